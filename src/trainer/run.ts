/**
 * One run from folder to result, whatever it learns from: open the folder, announce, guard, train, end.
 * The backend belongs to the caller and is left open.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { refuseRedacted } from "../config/checks/redacted.ts";
import { modelNotes } from "../config/parse.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { TrainingBackend } from "../core/backend.ts";
import type { Tracker } from "../core/tracker.ts";
import { type RunState, servedState } from "../runs/checkpoint.ts";
import { comparableState } from "../runs/resumed-state.ts";
import { openRunDirectory, type ResumeMode, type RunDirectory } from "../runs/run-directory.ts";
import { hashConfig } from "../runs/run-identity.ts";
import { stepName } from "../runs/run-log.ts";
import { defined } from "../util/defined.ts";
import { redact } from "../util/redact.ts";
import { Budget } from "./budget/budget.ts";
import { meteredBackend } from "./budget/metered.ts";
import { checkPrices, runPrices } from "./budget/run-prices.ts";
import { spentBefore, writeSpent } from "./budget/spent-file.ts";
import { type EventListener, RunEvents } from "./events.ts";
import { watchHealth } from "./health-watch.ts";
import { type LoopResult, runLoop } from "./loop.ts";
import { type RunExit, runGuarded } from "./run-exit.ts";
import type { Training } from "./training.ts";

interface RunFacts {
  readonly runDir: string;
  readonly seed: number;
  readonly totalSteps: number;
}

/** The result of a run. A run that fails rejects instead. */
export interface TrainResult extends LoopResult, RunFacts {}

export interface RunPlan {
  readonly config: TrainConfig;
  readonly backend: TrainingBackend;
  readonly training: Training;
  readonly resume: ResumeMode;
  /** Whether options that decide what the run computes may change on resume. */
  readonly allowChanges: boolean;
  readonly signal: AbortSignal;
  readonly listeners: readonly EventListener[];
  readonly trackers: readonly Tracker[];
  /** Whether the run reads the option. @default all */
  readonly isRead?: (option: string) => boolean;
}

/** Where the run begins: with the state of its newest checkpoint, or at step 0. */
async function startOf(
  { config, training }: RunPlan,
  { checkpoint, changes, path }: RunDirectory,
): Promise<RunState> {
  const configHash = hashConfig(config);
  if (checkpoint === null) {
    return {
      step: 0,
      position: { next: 0, pending: [] },
      skippedUpdates: 0,
      best: null,
      weightVersion: 0,
      hasUnservedWeights: false,
      resumeVersions: [],
      validatedStep: -1,
      configHash,
      ...training.data,
    };
  }
  const { dataHash, valHash = "" } = training.data;
  const isSaved = (step: number): boolean =>
    existsSync(join(dirname(checkpoint.path), stepName(step)));
  const served = servedState(checkpoint.state);
  const comparable = comparableState(served, { changes, valHash, isSaved }, config);
  return { ...(await training.resumed(comparable, changes, path)), configHash, dataHash };
}

/** The first events of a run: what it starts with, and what may surprise. */
function announce(
  { config, training }: RunPlan,
  { checkpoint, changes, warnings }: RunDirectory,
  { emit }: RunEvents,
  state: RunState,
  run: RunFacts,
): void {
  const notes = modelNotes(config);
  emit(state.step, {
    type: "run-start",
    ...run,
    resumedFrom: checkpoint?.path ?? null,
    ...(training.estimate === null ? {} : { estimate: training.estimate }),
    ...(notes.length === 0 ? {} : { notes }),
  });
  if (changes.length > 0) emit(state.step, { type: "config-change", changes });
  const { best } = checkpoint?.state ?? state;
  const startsOver =
    best !== null && state.best === null
      ? [
          `The best validation so far, that of step ${best.step}, was measured with other options or data, or was not saved; the search for the best starts over, and so does early stopping.`,
        ]
      : [];
  for (const message of [...startsOver, ...warnings, ...training.warnings]) {
    emit(state.step, { type: "warning", message });
  }
}

/** What can still be done while the process exits: log how the run ended, and release the lock. */
function leave(directory: RunDirectory, events: RunEvents, exit: RunExit): void {
  try {
    events.endNow(exit);
  } catch {
    // If the log cannot be written, the lock is released all the same.
  }
  directory[Symbol.dispose]();
  if (exit.status !== "failed") return;
  process.stderr.write(
    `error: ${exit.message} It has no result; resume continues from the last saved step of ${directory.path}.\n`,
  );
}

/** Executes a run to its end. Whatever happens, the last event of its log says how it ended. */
export async function executeRun(plan: RunPlan): Promise<TrainResult> {
  const { config, training, resume, allowChanges, isRead } = plan;
  refuseRedacted(config, isRead);
  checkPrices(config, plan.backend.name);
  const { checkData } = training;
  using directory = await openRunDirectory({ config, resume, allowChanges, checkData });
  const state = await startOf(plan, directory);
  const events = new RunEvents({
    write: (event) => directory.journal.event(event),
    listeners: plan.listeners,
    trackers: plan.trackers,
    trackerTimeoutMs: config.tracking.timeoutS * 1000,
    step: state.step,
  });
  const run = {
    runDir: directory.path,
    seed: config.trainer.seed,
    totalSteps: training.totalSteps,
  };
  let hasStarted = false;
  return await runGuarded<TrainResult>({
    what: "run",
    signal: plan.signal,
    onExit: (exit) => leave(directory, events, exit),
    async work(signal, escaped) {
      announce(plan, directory, events, state, run);
      const opened = { plan: { ...plan, signal }, directory, state, events };
      const result = await train(opened, () => (hasStarted = true));
      events.step = result.steps;
      const failure = escaped();
      if (failure !== null) {
        if (result.status === "interrupted") throw failure;
        events.warn(failure.message);
      }
      await events.end(result);
      return { ...run, ...result };
    },
    async onInterrupt() {
      await events.end({ status: "interrupted", message: null });
      const nothing = { metrics: null, validation: null, message: null, stoppedEarly: false };
      const checkpoint = directory.checkpoint?.path ?? null;
      const before = { checkpoint, best: state.best, steps: state.step };
      return { ...run, ...nothing, ...before, status: "interrupted" };
    },
    async onFailure(failure) {
      const message = redact(failure instanceof Error ? failure.message : String(failure));
      // A full disk affects the run log, too; what ended the run matters more.
      await events.end({ status: "failed", message }).catch(() => {});
      // What is wrong with the start is in the error; a folder of nothing would only look like a run.
      if (!hasStarted) directory.discard();
    },
  });
}

interface OpenedRun {
  readonly plan: RunPlan;
  readonly directory: RunDirectory;
  readonly state: RunState;
  readonly events: RunEvents;
}

/** Has the steps made, with everything that watches them. */
async function train(
  { plan, directory, state, events }: OpenedRun,
  onStarted: () => void,
): Promise<LoopResult> {
  const { config, training } = plan;
  const { checkpoint } = directory;
  plan.signal.throwIfAborted();
  const { tokens, usd, minutes } = config.budget;
  const budget = new Budget({
    ...{ tokens, usd, minutes, prices: runPrices(config, plan.backend.name)?.prices ?? null },
    before: spentBefore(directory.path, state.spent),
    // A validation alone changes nothing of the run.
    ...(config.trainer.valOnly ? {} : { keep: (spending) => writeSpent(directory.path, spending) }),
  });
  const run = {
    config,
    backend: meteredBackend(plan.backend, budget),
    totalSteps: training.totalSteps,
    journal: directory.journal,
    emit: events.emit,
    warnOnce: events.warnOnce,
    // Asynchronously, an update runs at the same time as rollouts, and it must not be cut off.
    signal: config.asyncTraining.enable
      ? plan.signal
      : AbortSignal.any([plan.signal, budget.signal]),
    budget,
  };
  try {
    return await training.train({
      ...run,
      directory,
      state,
      warn: events.warn,
      async restore() {
        budget.paidByHour(plan.backend.usdPerHour ?? 0);
        if (checkpoint === null) return;
        await run.backend.loadState(checkpoint.weights, state.weightVersion);
      },
      async loop(stepper, onSave) {
        const health = await watchHealth(config.health, directory.path, events.emit);
        onStarted();
        return await runLoop(run, stepper, {
          ...{ goal: training.goal, health, state },
          checkpoint: checkpoint?.path ?? null,
          checkpointFolder: directory.checkpoints,
          ...defined({ onSave }),
        });
      },
    });
  } finally {
    keepQuietly(budget);
  }
}

/** With what the last step spent, however it ended; what ended the run matters more than a full disk. */
function keepQuietly(budget: Budget): void {
  try {
    budget.keep();
  } catch {
    // As above.
  }
}
