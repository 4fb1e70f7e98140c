/** The steps of fine-tuning: updates, validations, checkpoints, and when to stop. */
import type { TrainConfig } from "../../config/train-config.ts";
import type { TrainingBackend } from "../../core/backend.ts";
import { NumericsError } from "../../core/errors.ts";
import type { Emit } from "../../trainer/events.ts";
import { isInterrupt } from "../../trainer/loop.ts";
import { type BatchPlan, createBatchPlan } from "../../runs/batches.ts";
import {
  type BestValidation,
  pruneCheckpoints,
  type RunState,
  saveCheckpoint,
} from "../../runs/checkpoint.ts";
import type { RunLog } from "../../runs/run-log.ts";
import { optimOf } from "../../trainer/update/update-spec.ts";
import type { EarlyStop } from "./early-stop.ts";
import type { Example } from "./examples/token-row.ts";
import type { Objective } from "./objectives/objective.ts";

type Metrics = Readonly<Record<string, number>>;

/** How fine-tuning ended. */
export interface FineTuneEnd {
  /** `completed`: all steps are done, or it stopped early. `interrupted`: its signal aborted it. */
  readonly status: "completed" | "interrupted";
  /** Whether `fine_tuning.patience` ended it before the last step. */
  readonly stoppedEarly: boolean;
  /** Steps completed over the whole run, including those before a resume. */
  readonly steps: number;
  /** Metrics of the last step of this process; null when there was none. */
  readonly metrics: Metrics | null;
  /** Metrics of the last validation of this process; null when there was none. */
  readonly validation: Metrics | null;
  /** Path of the newest checkpoint; null when there is none. */
  readonly checkpoint: string | null;
  /** The step with the lowest validation loss of the whole run, and that loss; null without validations. */
  readonly best: BestValidation | null;
}

export interface FineTuneLoop {
  readonly config: TrainConfig;
  readonly backend: TrainingBackend;
  readonly objective: Objective;
  readonly train: readonly Example[];
  readonly val: readonly Example[];
  readonly totalSteps: number;
  readonly state: RunState;
  readonly checkpoint: string | null;
  readonly checkpointFolder: string;
  readonly earlyStop: EarlyStop;
  readonly journal: RunLog;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

function prefixed(prefix: string, metrics: Metrics): Record<string, number> {
  return Object.fromEntries(
    Object.entries(metrics).map(([name, value]) => [`${prefix}/${name}`, value]),
  );
}

/** Runs from `state` to the last step, or until early stopping ends it. */
export async function runFineTuning(loop: FineTuneLoop): Promise<FineTuneEnd> {
  const { config, backend, objective, train, val, totalSteps, earlyStop, journal, emit, signal } =
    loop;
  const { testFreq, saveFreq, keepCheckpoints, keepBest, valBeforeTrain } = config.trainer;
  const batches: BatchPlan<Example> = createBatchPlan(train, {
    batchSize: config.data.trainBatchSize,
    seed: config.data.seed,
  });
  let { state, checkpoint } = loop;
  let savedStep = checkpoint === null ? 0 : state.step;
  let metrics: Metrics | null = null;
  let validation: Metrics | null = null;
  let areWeightsWhole = true;

  async function save(): Promise<void> {
    if (savedStep === state.step) return;
    journal.sync();
    const saved = { ...state, hasUnservedWeights: true };
    checkpoint = await saveCheckpoint(loop.checkpointFolder, saved, (folder) =>
      backend.saveState(folder),
    );
    savedStep = state.step;
    await pruneCheckpoints(
      loop.checkpointFolder,
      keepCheckpoints,
      keepBest ? (state.best?.step ?? null) : null,
    );
    emit(state.step, { type: "checkpoint-save", path: checkpoint });
  }

  async function validate(isLast: boolean): Promise<void> {
    const { step } = state;
    const isDue = step === 0 ? valBeforeTrain : testFreq > 0 && step % testFreq === 0;
    if (val.length === 0 || state.validatedStep === step || !(isDue || isLast)) return;
    const start = performance.now();
    const measured = prefixed("val", await objective.measure(val));
    const loss = measured["val/loss"] as number;
    if (!Number.isFinite(loss)) throw new NumericsError("val/loss", loss);
    validation = { ...measured, "time/validation_s": (performance.now() - start) / 1000 };
    const isBest = state.best === null || loss < state.best.value;
    // The model before training is what improves, not a candidate for stopping.
    earlyStop.add(isBest);
    const best = isBest ? { step, value: loss } : state.best;
    state = { ...state, validatedStep: step, best };
    journal.metrics(step, "validation", validation);
    emit(step, { type: "validation-end", metrics: validation, episodes: [] });
    if (isBest && keepBest) await save();
  }

  async function update(step: number): Promise<void> {
    const start = performance.now();
    const optim = optimOf({ config, totalSteps }, step);
    const batch = batches.batch(step);
    emit(step, { type: "step-start", tasks: batch.length, rollouts: 0 });
    areWeightsWhole = false;
    const updated = await objective.update(batch, optim);
    areWeightsWhole = true;
    const seconds = (performance.now() - start) / 1000;
    metrics = {
      ...prefixed("train", updated),
      "progress/step": step,
      "progress/epoch": batches.cursor(step - 1).epoch,
      "progress/done_fraction": step / totalSteps,
      "progress/lr": optim.learningRate,
      "tokens/per_s": seconds > 0 ? (updated["tokens"] ?? 0) / seconds : 0,
      "time/step_s": seconds,
    };
    state = { ...state, step, position: { next: step, pending: [] } };
    journal.metrics(step, "train", metrics);
    emit(step, { type: "step-end", metrics });
  }

  const end = (status: FineTuneEnd["status"]): FineTuneEnd => ({
    status,
    stoppedEarly: status === "completed" && state.step < totalSteps,
    steps: state.step,
    metrics,
    validation,
    checkpoint,
    best: state.best,
  });
  try {
    await validate(false);
    while (state.step < totalSteps && !earlyStop.isDue) {
      signal.throwIfAborted();
      await update(state.step + 1);
      await validate(state.step === totalSteps);
      if (saveFreq > 0 && state.step % saveFreq === 0) await save();
    }
    await save();
    return end("completed");
  } catch (error) {
    // What ended the run matters more than an error while saving after it.
    if (areWeightsWhole) await save().catch(() => {});
    if (isInterrupt(error, signal)) return end("interrupted");
    throw error;
  }
}
