/** One fine-tuning run from folder to result: the same folder, checkpoints and record as a run of the trainer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { warningsOf } from "../../config/load.ts";
import { modelSpecOf } from "../../config/model-spec.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { InferenceTarget, TrainingBackend } from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import { ConfigError, UnsupportedOptionError } from "../../core/errors.ts";
import { fileError } from "../../core/file-error.ts";
import { checkCapabilities, checkResume } from "../../trainer/check-capabilities.ts";
import { createEmitter, type Emit, type EventListener } from "../../trainer/events.ts";
import { isInterrupt } from "../../trainer/loop.ts";
import { stepsForEpochs } from "../../runs/batches.ts";
import { guardRun } from "../../trainer/run-exit.ts";
import { type RunState, servedState } from "../../runs/checkpoint.ts";
import { openRunDirectory, type ResumeMode, type RunDirectory } from "../../runs/run-directory.ts";
import { comparableState } from "../../runs/resumed-state.ts";
import { hashConfig, otherTasksError } from "../../runs/run-identity.ts";
import { stepName } from "../../runs/run-log.ts";
import { redact } from "../../util/redact.ts";
import { EarlyStop, validationsAfter } from "./early-stop.ts";
import { hashExamples, type LoadedExamples } from "./examples/load-examples.ts";
import { type FineTuneEnd, runFineTuning } from "./loop.ts";
import { crossEntropy } from "./objectives/cross-entropy.ts";
import type { Objective } from "./objectives/objective.ts";
import { preference, referenceOf } from "./objectives/preference.ts";
import { isRead, unreadWarning } from "./unread-options.ts";

/** The result of fine-tuning. A run that fails rejects instead. */
export interface FineTuneResult extends FineTuneEnd {
  readonly runDir: string;
  readonly seed: number;
  readonly totalSteps: number;
  /** Examples that are trained on, and those that are held out. */
  readonly examples: { readonly train: number; readonly val: number };
}

export interface FineTunePlan {
  readonly config: TrainConfig;
  readonly backend: TrainingBackend;
  /** Makes the examples once the backend has started, which knows the model's renderer. */
  readonly examples: (target: InferenceTarget) => Promise<LoadedExamples>;
  readonly resume: ResumeMode;
  readonly allowChanges: boolean;
  readonly signal: AbortSignal;
  readonly listeners: readonly EventListener[];
}

/** @throws UnsupportedOptionError for a backend that has not what the loss or the validation needs. */
export function checkFineTuning(config: TrainConfig, backend: TrainingBackend): void {
  checkCapabilities(config, backend, isRead);
  const { loss, val, valFraction } = config.fineTuning;
  const needed = loss.type === "sft" ? "cross_entropy" : "importance_sampling";
  const refuse = (option: string, value: unknown, others: readonly string[]): never => {
    throw new UnsupportedOptionError(option, value, backend.name, others);
  };
  const { losses, forward } = backend.capabilities;
  if (!losses.includes(needed)) {
    refuse(
      "fine_tuning.loss",
      loss.type,
      backendsThat((row) => row.losses.includes(needed)),
    );
  }
  const withForward = backendsThat((row) => row.forward);
  if (forward) return;
  if (loss.type === "dpo") refuse("fine_tuning.loss", loss.type, withForward);
  if (val !== null) refuse("fine_tuning.val", val, withForward);
  if (valFraction > 0) refuse("fine_tuning.val_fraction", valFraction, withForward);
}

/** @throws ConfigError for options of fine-tuning itself; those of `train` are only not read. */
export function checkValidation(
  { fineTuning, trainer }: TrainConfig,
  { val }: Pick<LoadedExamples, "val">,
): void {
  if (fineTuning.patience === 0) return;
  if (val.length === 0) {
    throw new ConfigError({
      message: "fine_tuning.patience needs held-out examples, and there are none.",
      hint: "Set fine_tuning.val, or fine_tuning.val_fraction=0.1.",
      fields: { options: ["fine_tuning.patience"] },
    });
  }
  if (trainer.testFreq > 0) return;
  throw new ConfigError({
    message: "fine_tuning.patience needs validations during the run, but trainer.test_freq is 0.",
    hint: "Set trainer.test_freq to the steps between validations.",
  });
}

/** What a run, and its preview, say of its options and examples. */
export function fineTuneWarnings(config: TrainConfig, loaded: LoadedExamples): readonly string[] {
  const unread = unreadWarning(config, loaded.val.length > 0);
  return [...warningsOf(config), ...loaded.warnings, ...(unread === null ? [] : [unread])];
}

const freshState = (config: TrainConfig, dataHash: string): RunState => ({
  step: 0,
  position: { next: 0, pending: [] },
  skippedUpdates: 0,
  best: null,
  weightVersion: 0,
  hasUnservedWeights: false,
  resumeVersions: [],
  validatedStep: -1,
  configHash: hashConfig(config),
  dataHash,
});

function totalStepsOf({ trainer, data }: TrainConfig, examples: number): number {
  return trainer.totalBatches > 0
    ? trainer.totalBatches
    : stepsForEpochs(examples, data.trainBatchSize, trainer.totalEpochs);
}

async function objectiveOf(
  { config, backend, signal }: FineTunePlan,
  { train, val }: LoadedExamples,
): Promise<Objective> {
  const { loss } = config.fineTuning;
  const batchSize = config.data.trainBatchSize;
  if (loss.type === "sft") return crossEntropy(backend, batchSize, signal);
  const reference = await referenceOf(backend, [...train, ...val], batchSize, signal);
  return preference(backend, { beta: loss.beta, reference, batchSize, signal });
}

function announce(
  { config }: FineTunePlan,
  loaded: LoadedExamples,
  directory: RunDirectory,
  { emit, state, totalSteps }: { emit: Emit; state: RunState; totalSteps: number },
): void {
  const { checkpoint, changes } = directory;
  const { seed } = config.trainer;
  const resumedFrom = checkpoint?.path ?? null;
  emit(state.step, { type: "run-start", runDir: directory.path, seed, totalSteps, resumedFrom });
  if (changes.length > 0) emit(state.step, { type: "config-change", changes });
  for (const message of [...directory.warnings, ...fineTuneWarnings(config, loaded)])
    emit(state.step, { type: "warning", message });
}

const startsOver = (best: number) =>
  ({
    type: "warning",
    message: `The best validation so far, that of step ${best}, was measured with other options or examples, or was not saved; the search for the best starts over, and so does early stopping.`,
  }) as const;

/** Whatever happens after the folder is open, the last event of its log says how the run ended. */
export async function executeFineTuning(plan: FineTunePlan): Promise<FineTuneResult> {
  const { config, backend, resume, allowChanges, listeners } = plan;
  if (resume !== false) checkResume(backend);
  plan.signal.throwIfAborted();
  const target = await backend.start({
    seed: config.trainer.seed,
    model: modelSpecOf(config.model),
    signal: plan.signal,
  });
  // Some backends know what they support only after a request to their server.
  checkFineTuning(config, backend);
  const loaded = await plan.examples(target);
  checkValidation(config, loaded);
  const valHash = hashExamples(loaded.val);
  const fresh = { ...freshState(config, hashExamples(loaded.train)), valHash };
  using directory = await openRunDirectory({
    ...{ config, resume, allowChanges },
    checkData({ dataHash }, { folder }) {
      if (dataHash !== fresh.dataHash) throw otherTasksError(folder);
    },
  });
  const { checkpoint } = directory;
  const state: RunState =
    checkpoint === null
      ? fresh
      : {
          ...comparableState(
            servedState(checkpoint.state),
            {
              changes: directory.changes,
              valHash,
              isSaved: (step) => existsSync(join(directory.checkpoints, stepName(step))),
            },
            config,
          ),
          configHash: fresh.configHash,
        };
  const { best: bestBefore = null } = checkpoint?.state ?? {};
  const totalSteps = totalStepsOf(config, loaded.train.length);
  const write = createEmitter((event) => directory.journal.event(event), listeners);
  let lastStep = state.step;
  const emit: Emit = (step, body) => {
    lastStep = step;
    write(step, body);
  };
  const end = (status: "completed" | "interrupted" | "failed", message: string | null): void =>
    emit(lastStep, { type: "run-end", status, message });
  using guard = guardRun(({ status, message }) => {
    try {
      end(status, message);
    } finally {
      directory[Symbol.dispose]();
    }
  });
  const signal = AbortSignal.any([plan.signal, guard.signal]);
  const run = {
    runDir: directory.path,
    seed: config.trainer.seed,
    totalSteps,
    examples: { train: loaded.train.length, val: loaded.val.length },
  };
  let hasStarted = false;
  try {
    announce(plan, loaded, directory, { emit, state, totalSteps });
    if (bestBefore !== null && state.best === null) emit(state.step, startsOver(bestBefore.step));
    // The reference of DPO is the model as it was loaded: before a checkpoint replaces it.
    const objective = await objectiveOf({ ...plan, signal }, loaded);
    if (checkpoint !== null) await backend.loadState(checkpoint.weights, state.weightVersion);
    const since =
      state.best === null
        ? 0
        : validationsAfter(join(directory.path, "metrics.jsonl"), state.best.step);
    hasStarted = true;
    const result = await runFineTuning({
      config,
      backend,
      objective,
      ...loaded,
      totalSteps,
      state,
      checkpoint: checkpoint?.path ?? null,
      checkpointFolder: directory.checkpoints,
      earlyStop: new EarlyStop(config.fineTuning.patience, since),
      journal: directory.journal,
      emit,
      signal,
    });
    if (guard.failure !== null && result.status === "interrupted") throw guard.failure;
    end(result.status, null);
    return { ...run, ...result };
  } catch (error) {
    if (guard.failure === null && isInterrupt(error, plan.signal)) {
      end("interrupted", null);
      const nothing = { metrics: null, validation: null, stoppedEarly: false };
      const before = { checkpoint: checkpoint?.path ?? null, best: state.best, steps: state.step };
      return { ...run, ...nothing, ...before, status: "interrupted" };
    }
    const failure = guard.failure ?? error;
    end("failed", redact(failure instanceof Error ? failure.message : String(failure)));
    if (!hasStarted) directory.discard();
    throw fileError(failure) ?? failure;
  }
}
