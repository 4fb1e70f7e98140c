/**
 * One run from folder to result: opens what it needs, passes it to the loop, and closes it again in
 * every case. The backend belongs to the caller and is left open.
 */
import type { CustomEstimators } from "../algorithms/catalog.ts";
import type { TrainingBackend } from "../core/backend.ts";
import { fileError } from "../core/file-error.ts";
import type { Task } from "../core/task.ts";
import { redact } from "../util/redact.ts";
import { createBatchPlan, stepsForEpochs } from "./rollouts/batches.ts";
import { servedState, type RunState } from "./run-folder/checkpoint.ts";
import { startWarnings } from "../config/start-warnings.ts";
import { validationNotices } from "../config/switches.ts";
import { checkCapabilities } from "./check-capabilities.ts";
import { checkValidation } from "./check-validation.ts";
import { resumedState } from "./run-folder/resumed-state.ts";
import { curriculumRank } from "./rollouts/curriculum.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { CustomLosses } from "./custom-algorithms.ts";
import { createEmitter, type Emit, type EventListener } from "./emitter.ts";
import { isInterrupt, type LoopResult, runLoop } from "./loop.ts";
import { batchSizeOf } from "./loop-context.ts";
import { temperatureWarnings } from "./update/logprob-temperature.ts";
import { createRolloutService, type OpenRollouts } from "./rollouts/gateway-service.ts";
import { guardRun, type RunExit } from "./run-exit.ts";
import {
  openRunDirectory,
  type ResumeMode,
  type RunDirectory,
} from "./run-folder/run-directory.ts";
import { hashConfig, hashDataset } from "./run-folder/run-identity.ts";
import { nothingBuffered } from "./rollouts/buffered-rollouts.ts";
import type { Rollouts } from "./rollouts/agent-spec.ts";

/** The result of a run. A run that fails rejects instead. */
export interface TrainResult extends LoopResult {
  readonly runDir: string;
  readonly seed: number;
  readonly totalSteps: number;
}

export interface RunPlan {
  readonly backend: TrainingBackend;
  readonly rollouts: Rollouts;
  readonly config: TrainConfig;
  readonly trainTasks: readonly Task[];
  readonly valTasks: readonly Task[];
  readonly resume: ResumeMode;
  /** Whether options that decide what the run computes may change on resume. */
  readonly allowChanges: boolean;
  readonly signal: AbortSignal;
  readonly listeners: readonly EventListener[];
  readonly estimators: CustomEstimators;
  readonly losses: CustomLosses;
  /** Warnings about options without an effect. */
  readonly warnings: readonly string[];
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
  dataHash: hashDataset(plan.trainTasks, curriculumRank(plan.config).rank),
});

/** Executes a run to its end. Tests replace `openRollouts`. */
export async function executeRun(
  plan: RunPlan,
  openRollouts: OpenRollouts = createRolloutService,
): Promise<TrainResult> {
  checkValidation(plan.config, plan.valTasks);
  const fresh = atStart(plan);
  const directory = await openRunDirectory({
    config: plan.config,
    resume: plan.resume,
    allowChanges: plan.allowChanges,
    dataHash: fresh.dataHash,
  });
  try {
    const emit = createEmitter((event) => directory.journal.event(event), plan.listeners);
    const { checkpoint, changes } = directory;
    const { configHash } = fresh;
    const state =
      checkpoint === null
        ? fresh
        : {
            ...resumedState(servedState(checkpoint.state), plan.config, changes),
            configHash,
          };
    return await loggedRun({ plan, directory, state, openRollouts }, emit);
  } catch (error) {
    throw fileError(error) ?? error;
  } finally {
    directory.close();
  }
}

/** What can still be done while the process exits: log how the run ended, and release the lock. */
function leave(directory: RunDirectory, end: () => void, { status, message }: RunExit): void {
  try {
    end();
  } catch {
    // If the log cannot be written, the lock is released all the same.
  }
  directory.close();
  if (status !== "failed") return;
  process.stderr.write(
    `error: ${message} It has no result; resume continues from the last saved step of ${directory.path}.\n`,
  );
}

interface OpenedRun {
  readonly plan: RunPlan;
  readonly directory: RunDirectory;
  readonly state: RunState;
  readonly openRollouts: OpenRollouts;
}

/** Whatever happens, the last event of the run log says how the run ended. */
async function loggedRun(opened: OpenedRun, emit: Emit): Promise<TrainResult> {
  const { plan, directory, state } = opened;
  const totalSteps = totalStepsOf(plan);
  const run = { runDir: directory.path, seed: plan.config.trainer.seed, totalSteps };
  const checkpoint = directory.checkpoint?.path ?? null;
  emit(state.step, { type: "run-start", ...run, resumedFrom: checkpoint });
  const { changes } = directory;
  if (changes.length > 0) emit(state.step, { type: "config-change", changes });
  const { best } = directory.checkpoint?.state ?? state;
  if (best !== null && state.best === null) {
    emit(state.step, {
      type: "warning",
      message: `The best validation so far, that of step ${best.step}, was measured with other options; the search for the best starts over.`,
    });
  }
  for (const message of [
    ...directory.warnings,
    ...plan.warnings,
    ...startWarnings(plan.config, plan.trainTasks.length, totalSteps),
    ...temperatureWarnings(plan.config, plan.backend),
    ...(plan.valTasks.length === 0 ? validationNotices(plan.config) : []),
  ]) {
    emit(state.step, { type: "warning", message });
  }
  let lastStep = state.step;
  const counted: Emit = (step, body) => {
    lastStep = step;
    emit(step, body);
  };
  const end = (status: LoopResult["status"] | "failed", message: string | null): void =>
    emit(lastStep, { type: "run-end", status, message });
  using guard = guardRun((exit) => leave(directory, () => end(exit.status, exit.message), exit));
  const signal = AbortSignal.any([plan.signal, guard.signal]);
  try {
    const result = await runWithServices(
      { ...opened, plan: { ...plan, signal } },
      counted,
      totalSteps,
    );
    lastStep = result.steps;
    if (guard.failure !== null) {
      if (result.status === "interrupted") throw guard.failure;
      emit(lastStep, { type: "warning", message: guard.failure.message });
    }
    end(result.status, result.message);
    return { ...run, ...result };
  } catch (error) {
    if (guard.failure === null && isInterrupt(error, plan.signal)) {
      end("interrupted", null);
      const nothing = { metrics: null, validation: null, message: null };
      const before = { checkpoint, best: state.best, steps: state.step };
      return { ...run, ...nothing, ...before, status: "interrupted" };
    }
    const failure = guard.failure ?? error;
    try {
      end("failed", redact(failure instanceof Error ? failure.message : String(failure)));
    } catch {
      // A full disk affects the run log, too; what ended the run matters more.
    }
    throw failure;
  }
}

async function runWithServices(
  { plan, directory, state, openRollouts }: OpenedRun,
  emit: Emit,
  totalSteps: number,
): Promise<LoopResult> {
  const { backend, config, signal } = plan;
  signal.throwIfAborted();
  const { loraRank, loraAlpha, name } = config.model;
  const target = await backend.start({
    seed: config.trainer.seed,
    model: { name, lora: loraRank === 0 ? null : { rank: loraRank, alpha: loraAlpha } },
    signal,
  });
  // Some backends know what they support only after a request to their server.
  checkCapabilities(config, backend);
  if (directory.checkpoint !== null) {
    await backend.loadState(directory.checkpoint.weights, state.weightVersion);
  }
  const { weightVersion } = state;
  const service = await openRollouts({ target, rollouts: plan.rollouts, config, weightVersion });
  try {
    return await runLoop(
      {
        config,
        backend: service.hold?.(backend) ?? backend,
        rollouts: service.run,
        batches: createBatchPlan(plan.trainTasks, {
          batchSize: batchSizeOf(config),
          seed: config.data.seed ?? config.trainer.seed,
          ...curriculumRank(config),
        }),
        valTasks: plan.valTasks,
        totalSteps,
        journal: directory.journal,
        emit,
        signal,
        estimators: plan.estimators,
        losses: plan.losses,
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
  }
}
