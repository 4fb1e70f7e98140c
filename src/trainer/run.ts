/**
 * One run from folder to result: opens what it needs, passes it to the loop, and closes it again in
 * every case. The backend belongs to the caller and is left open.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CustomEstimators } from "../algorithms/catalog.ts";
import type { GroupEvaluator } from "../core/agent.ts";
import type { TrainingBackend } from "../core/backend.ts";
import type { Tracker } from "../core/tracker.ts";
import type { UnstampedEvent } from "../core/events.ts";
import { fileError } from "../core/file-error.ts";
import { createMemoryTraceStore } from "../gateway/index.ts";
import type { Dataset, Task } from "../core/task.ts";
import type { Teacher } from "../core/teacher.ts";
import { defined } from "../util/defined.ts";
import { redact } from "../util/redact.ts";
import { createBatchPlan, stepsForEpochs } from "../runs/batches.ts";
import { servedState, type RunState, type TaskOrder } from "../runs/checkpoint.ts";
import { refuseRedacted } from "../config/checks/redacted.ts";
import { startWarnings } from "../config/checks/start-warnings.ts";
import { validationNotices } from "../config/checks/switches.ts";
import { Budget } from "./budget/budget.ts";
import { estimateRun, formatEstimate } from "./budget/estimate.ts";
import { meteredBackend, meteredStore, meteredTarget } from "./budget/metered.ts";
import { checkPrices, runPrices } from "./budget/run-prices.ts";
import { spentBefore, writeSpent } from "./budget/spent-file.ts";
import { checkCapabilities } from "./check-capabilities.ts";
import { checkGroupEvaluator } from "./check-group-evaluator.ts";
import { checkValidation } from "./check-validation.ts";
import { comparableState, resumedState, tasksBegun } from "../runs/resumed-state.ts";
import { checkTasks, orderOf, ordersAfter, plannedOrders } from "../runs/task-orders.ts";
import { modelSpecOf } from "../config/model-spec.ts";
import { modelNotes } from "../config/parse.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { CustomLosses } from "./custom-algorithms.ts";
import { createEmitter, type Emit, type EventListener } from "./events.ts";
import { watchHealth } from "./health-watch.ts";
import { isInterrupt, type LoopResult, runLoop } from "./loop.ts";
import { batchSizeOf } from "../config/batch-size.ts";
import { temperatureWarnings } from "./update/logprob-temperature.ts";
import { followRun } from "../trackers/follow-run.ts";
import { createRolloutService } from "../rollouts/service/gateway-service.ts";
import { guardRun, type RunExit } from "./run-exit.ts";
import { ExchangeLog } from "../runs/exchange-log.ts";
import { openRunDirectory, type ResumeMode, type RunDirectory } from "../runs/run-directory.ts";
import { stepName } from "../runs/run-log.ts";
import { hashConfig, hashDataset } from "../runs/run-identity.ts";
import { nothingBuffered } from "../rollouts/task-rollouts.ts";
import type { Rollouts } from "../rollouts/service/agent-spec.ts";

interface RunFacts {
  readonly runDir: string;
  readonly seed: number;
  readonly totalSteps: number;
}

/** The result of a run. A run that fails rejects instead. */
export interface TrainResult extends LoopResult, RunFacts {}

export interface RunPlan {
  readonly backend: TrainingBackend;
  readonly rollouts: Rollouts;
  readonly config: TrainConfig;
  readonly trainTasks: Dataset;
  readonly valTasks: readonly Task[];
  readonly resume: ResumeMode;
  /** Whether options that decide what the run computes may change on resume. */
  readonly allowChanges: boolean;
  readonly signal: AbortSignal;
  readonly listeners: readonly EventListener[];
  readonly trackers: readonly Tracker[];
  readonly estimators: CustomEstimators;
  readonly losses: CustomLosses;
  readonly groupEvaluator?: GroupEvaluator;
  /** Not started yet; the caller disposes of it. */
  readonly teacher?: Teacher;
  /** Warnings about options without an effect. */
  readonly warnings: readonly string[];
}

interface OpenedRun {
  readonly plan: RunPlan;
  readonly directory: RunDirectory;
  readonly state: RunState;
  readonly emit: Emit;
  /** Emits a warning in the step that the run is in. */
  readonly warn: (message: string) => void;
}

function totalStepsOf({ config, trainTasks }: RunPlan): number {
  const { totalBatches, totalEpochs } = config.trainer;
  return totalBatches > 0
    ? totalBatches
    : stepsForEpochs(trainTasks.length, batchSizeOf(config), totalEpochs);
}

const atStart = (plan: RunPlan): RunState => ({
  step: 0,
  position: { next: 0, pending: [] },
  skippedUpdates: 0,
  best: null,
  weightVersion: 0,
  hasUnservedWeights: false,
  resumeVersions: [],
  validatedStep: -1,
  configHash: hashConfig(plan.config),
  dataHash: hashDataset(plan.trainTasks),
  orders: [orderOf(plan.config, plan.trainTasks)],
  valHash: hashDataset(plan.valTasks),
});

/** Where the run begins: with the state of its newest checkpoint, or at step 0. */
function startOf(
  { config, trainTasks }: RunPlan,
  { checkpoint, changes }: RunDirectory,
  fresh: RunState,
): RunState {
  if (checkpoint === null) return fresh;
  const { configHash, dataHash, orders: [now] = [], valHash = "" } = fresh;
  const isSaved = (step: number): boolean =>
    existsSync(join(dirname(checkpoint.path), stepName(step)));
  const served = servedState(checkpoint.state);
  const comparable = comparableState(served, { changes, valHash, isSaved }, config);
  const state = resumedState(comparable, config, changes, trainTasks.length);
  const begun = tasksBegun(state, config, trainTasks.length);
  const orders = ordersAfter(state, config, changes, { now: now as TaskOrder, begun });
  return { ...state, configHash, dataHash, orders };
}

/** What is expected to be paid, where something is. */
function estimateOf({ config, backend }: RunPlan, steps: number): { estimate?: string } {
  const estimate = estimateRun(config, {
    ...{ backend: backend.name, steps },
    capabilities: backend.capabilities,
  });
  return estimate.usd === null ? {} : { estimate: formatEstimate(estimate) };
}

/** The first events of a run: what it starts with, and what may surprise. */
function announce({ plan, directory, state, emit }: OpenedRun, run: RunFacts): void {
  const { checkpoint, changes } = directory;
  const notes = modelNotes(plan.config);
  const start: UnstampedEvent = {
    type: "run-start",
    ...run,
    resumedFrom: checkpoint?.path ?? null,
    ...estimateOf(plan, run.totalSteps),
    ...(notes.length === 0 ? {} : { notes }),
  };
  emit(state.step, start);
  if (changes.length > 0) emit(state.step, { type: "config-change", changes });
  const { best } = checkpoint?.state ?? state;
  const warnings = [
    ...(best !== null && state.best === null
      ? [
          `The best validation so far, that of step ${best.step}, was measured with other options or tasks, or was not saved; the search for the best starts over, and so does early stopping.`,
        ]
      : []),
    ...directory.warnings,
    ...plan.warnings,
    ...startWarnings(plan.config, plan.trainTasks.length, run.totalSteps),
    ...temperatureWarnings(plan.config, plan.backend),
    ...(plan.valTasks.length === 0 ? validationNotices(plan.config) : []),
  ];
  for (const message of warnings) emit(state.step, { type: "warning", message });
}

/** What can still be done while the process exits: log how the run ended, and release the lock. */
function leave(directory: RunDirectory, end: () => void, { status, message }: RunExit): void {
  try {
    end();
  } catch {
    // If the log cannot be written, the lock is released all the same.
  }
  directory[Symbol.dispose]();
  if (status !== "failed") return;
  process.stderr.write(
    `error: ${message} It has no result; resume continues from the last saved step of ${directory.path}.\n`,
  );
}

/** Executes a run to its end. Whatever happens, the last event of its log says how it ended. */
export async function executeRun(plan: RunPlan): Promise<TrainResult> {
  const { config, listeners } = plan;
  refuseRedacted(config);
  checkValidation(config, plan.valTasks);
  checkGroupEvaluator(plan);
  checkPrices(config, plan.backend.name);
  const fresh = atStart(plan);
  const { resume, allowChanges } = plan;
  using directory = await openRunDirectory({
    ...{ config, resume, allowChanges },
    checkData: (saved, run) => checkTasks(saved, config, plan.trainTasks, run),
  });
  const warn = (message: string): void => emit(lastStep, { type: "warning", message });
  const followers = followRun(plan.trackers, {
    timeoutMs: config.tracking.timeoutS * 1000,
    warn,
  });
  const write = createEmitter(
    (event) => directory.journal.event(event),
    [...listeners, followers.track],
  );
  const state = startOf(plan, directory, fresh);
  const run = {
    runDir: directory.path,
    seed: config.trainer.seed,
    totalSteps: totalStepsOf(plan),
  };
  let lastStep = state.step;
  const emit: Emit = (step, body) => {
    lastStep = step;
    write(step, body);
  };
  const end = (status: RunExit["status"] | LoopResult["status"], message: string | null): void =>
    emit(lastStep, { type: "run-end", status, message });
  /** Trackers are told before the run log, whose last event is the end. */
  const finish = async (...[status, message]: Parameters<typeof end>): Promise<void> => {
    const last = { type: "run-end", status, message, step: lastStep, time: Date.now() } as const;
    await followers.end(last);
    end(status, message);
  };
  let hasStarted = false;
  using guard = guardRun((exit) => leave(directory, () => end(exit.status, exit.message), exit));
  try {
    const signal = AbortSignal.any([plan.signal, guard.signal]);
    const opened = { plan: { ...plan, signal }, directory, state, emit, warn };
    announce(opened, run);
    const result = await runWithServices(opened, run.totalSteps, () => (hasStarted = true));
    lastStep = result.steps;
    if (guard.failure !== null) {
      if (result.status === "interrupted") throw guard.failure;
      emit(lastStep, { type: "warning", message: guard.failure.message });
    }
    await finish(result.status, result.message);
    return { ...run, ...result };
  } catch (error) {
    if (guard.failure === null && isInterrupt(error, plan.signal)) {
      await finish("interrupted", null);
      const nothing = { metrics: null, validation: null, message: null };
      const checkpoint = directory.checkpoint?.path ?? null;
      const before = { checkpoint, best: state.best, steps: state.step };
      return { ...run, ...nothing, ...before, status: "interrupted" };
    }
    const failure = guard.failure ?? error;
    try {
      await finish("failed", redact(failure instanceof Error ? failure.message : String(failure)));
    } catch {
      // A full disk affects the run log, too; what ended the run matters more.
    }
    // What is wrong with the start is in the error; a folder of nothing would only look like a run.
    if (!hasStarted) directory.discard();
    throw fileError(failure) ?? failure;
  }
}

/** Starts the backend and the gateway, and runs the loop on them. */
async function runWithServices(
  { plan, directory, state, emit, warn }: OpenedRun,
  totalSteps: number,
  onStarted: () => void,
): Promise<LoopResult> {
  const { config } = plan;
  plan.signal.throwIfAborted();
  const { tokens, usd } = config.budget;
  const prices = runPrices(config, plan.backend.name)?.prices ?? null;
  const budget = new Budget({
    ...{ tokens, usd, prices },
    before: spentBefore(directory.path, state.spent),
    // A validation alone changes nothing of the run.
    ...(config.trainer.valOnly ? {} : { keep: (usage) => writeSpent(directory.path, usage) }),
  });
  const backend = meteredBackend(plan.backend, budget);
  // Asynchronously, an update runs at the same time as rollouts, and it must not be cut off.
  const signal = config.asyncTraining.enable
    ? plan.signal
    : AbortSignal.any([plan.signal, budget.signal]);
  const target = await backend.start({
    seed: config.trainer.seed,
    model: modelSpecOf(config.model),
    signal,
    runDir: directory.path,
  });
  budget.paidByHour(plan.backend.usdPerHour ?? 0);
  // Some backends know what they support only after a request to their server.
  checkCapabilities(config, backend);
  if (directory.checkpoint !== null) {
    await backend.loadState(directory.checkpoint.weights, state.weightVersion);
  }
  await plan.teacher?.start(target.renderer ?? null, signal);
  const { weightVersion } = state;
  await using exchanges = new ExchangeLog({
    run: directory.path,
    kilobytes: config.record.httpBodyKb,
    compression: config.record.compression,
    checkpoint: directory.checkpoint?.state.step ?? -1,
    warn,
  });
  const service = await createRolloutService({
    target: meteredTarget(target, budget),
    ...(target.kind === "http" ? { store: meteredStore(createMemoryTraceStore(), budget) } : {}),
    rollouts: plan.rollouts,
    config,
    weightVersion,
    isScoredLater: plan.groupEvaluator !== undefined,
    ...defined({ exchanges: exchanges.listener }),
  });
  const health = await watchHealth(config.health, directory.path, emit);
  onStarted();
  try {
    return await runLoop(
      {
        config,
        backend,
        gate: service.gate,
        rollouts: service.run,
        budget,
        batches: createBatchPlan(plan.trainTasks, {
          batchSize: batchSizeOf(config),
          ...plannedOrders(state.orders as readonly TaskOrder[]),
        }),
        valTasks: plan.valTasks,
        totalSteps,
        journal: directory.journal,
        health,
        emit: (step, body) => {
          if (body.type === "checkpoint-save") exchanges.checkpoint = step;
          emit(step, body);
        },
        signal,
        estimators: plan.estimators,
        losses: plan.losses,
        ...defined({ groupEvaluator: plan.groupEvaluator }),
        ...(plan.teacher === undefined ? {} : { teacher: plan.teacher }),
      },
      {
        state,
        rollouts: directory.checkpoint?.rollouts ?? nothingBuffered,
        checkpoint: directory.checkpoint?.path ?? null,
        checkpointFolder: directory.checkpoints,
      },
    );
  } finally {
    await service[Symbol.asyncDispose]();
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
