/**
 * The training loop: the order of steps, validations and checkpoints, and what is saved when a run
 * ends early.
 */
import { AgentTrainerError } from "../core/errors.ts";
import { createAsyncStepper } from "./async/async-stepper.ts";
import {
  type BestValidation,
  pruneCheckpoints,
  type RunState,
  saveCheckpoint,
} from "../runs/checkpoint.ts";
import { isBetter } from "../runs/best-validation.ts";
import { waitOn, whyStop } from "../runs/early-stopping.ts";
import { LearningRecord } from "./update/learning.ts";
import type { LoopContext } from "./loop-context.ts";
import { createSyncStepper } from "./sync-stepper.ts";
import type { BufferedRollouts } from "../rollouts/task-rollouts.ts";
import type { Stepper } from "./stepper.ts";
import { runValidation } from "./rollouts/validate.ts";

type Metrics = Readonly<Record<string, number>>;

export interface LoopResult {
  /**
   * `completed`: all steps are done. `untrained`: the run ended, but no step changed the weights;
   * `message` says why. `out_of_budget`: a limit of `budget` ended it after its last complete step.
   * `interrupted`: the run's signal aborted it.
   */
  readonly status: "completed" | "untrained" | "out_of_budget" | "interrupted";
  /** Why nothing was learned, or which limit ended the run, as a sentence; null otherwise. */
  readonly message: string | null;
  /** Steps completed over the whole run, including those before a resume. */
  readonly steps: number;
  /** Metrics of the last step of this process; null when there was none. */
  readonly metrics: Metrics | null;
  /** Metrics of the last validation of this process; null when there was none. */
  readonly validation: Metrics | null;
  /** Path of the newest checkpoint; null when there is none. */
  readonly checkpoint: string | null;
  /** The best validation of the whole run by `trainer.best_metric`; null when there was none. */
  readonly best: BestValidation | null;
}

export interface LoopStart {
  readonly state: RunState;
  /** Rollouts that the checkpoint of `state` holds. */
  readonly rollouts: BufferedRollouts;
  /** Path of the checkpoint that `state` came from; null for a new run. */
  readonly checkpoint: string | null;
  readonly checkpointFolder: string;
}

/** True when the error is the run's signal taking effect, not an unrelated failure. */
export function isInterrupt(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return (
    !AgentTrainerError.isInstance(error) || error.code === "ABORTED" || error === signal.reason
  );
}

/** Trains from `start` to the last step. */
export async function runLoop(context: LoopContext, start: LoopStart): Promise<LoopResult> {
  const { budget, config, emit, health, journal, signal, totalSteps } = context;
  const { testFreq, saveFreq, valBeforeTrain, valOnly, keepCheckpoints } = config.trainer;
  const { keepBest, bestMetric } = config.trainer;
  let state = start.state;
  let checkpoint = start.checkpoint;
  let savedStep = start.checkpoint === null ? 0 : start.state.step;
  let metrics: Metrics | null = null;
  let validation: Metrics | null = null;
  let areWeightsWhole = true;
  const learning = new LearningRecord(start.state.weightVersion > 0);

  const { position, hasUnservedWeights, resumeVersions } = state;
  const held = { rollouts: start.rollouts, position, hasUnservedWeights };
  await using stepper: Stepper = config.asyncTraining.enable
    ? createAsyncStepper(context, held, { steps: state.step, resumeVersions })
    : createSyncStepper(context, held);

  const isValidationDue = (): boolean => {
    if (context.valTasks.length === 0) return false;
    // A resumed run was requested to validate the weights that it restored, whatever their state.
    if (valOnly) return validation === null;
    if (state.validatedStep === state.step) return false;
    if (state.step === 0) return valBeforeTrain;
    return state.step >= totalSteps || (testFreq > 0 && state.step % testFreq === 0);
  };

  async function validateIfDue(): Promise<void> {
    if (!isValidationDue()) return;
    const { step } = state;
    const measured = await stepper.validating(() => runValidation(context, step));
    validation = measured;
    const isBest = isBetter(measured, bestMetric, state.best);
    state = {
      ...state,
      validatedStep: step,
      best: isBest ? { step, value: measured[bestMetric] as number } : state.best,
      patience: waitOn(state.patience ?? null, measured[bestMetric], config.trainer),
    };
    if (isBest && keepBest && !valOnly) await save();
    health.see(step, "validation", measured);
  }

  async function save(): Promise<void> {
    if (savedStep === state.step) return;
    // The record must not lag behind a checkpoint that survives a power loss.
    await journal.flush();
    journal.sync();
    const { rollouts, ...now } = stepper.held();
    checkpoint = await saveCheckpoint(
      start.checkpointFolder,
      { ...state, ...now, ...(budget.isReported ? { spent: budget.usage } : {}) },
      (folder) => context.backend.saveState(folder),
      rollouts,
    );
    savedStep = state.step;
    const best = keepBest ? (state.best?.step ?? null) : null;
    await pruneCheckpoints(start.checkpointFolder, keepCheckpoints, best);
    emit(state.step, { type: "checkpoint-save", path: checkpoint });
  }

  /** @returns why it stops before the last step, if it does. */
  async function steps(): Promise<string | null> {
    await validateIfDue();
    const last = valOnly ? state.step : totalSteps;
    while (state.step < last) {
      signal.throwIfAborted();
      const stop = whyStop(state.patience ?? null, state.step, config.trainer);
      if (stop !== null) {
        emit(state.step, { type: "warning", message: stop });
        break;
      }
      if (budget.whyStop !== null) {
        await save();
        return budget.whyStop;
      }
      budget.stepBegins();
      const step = state.step + 1;
      const result = await stepper.step(step, state, {
        begin: () => (areWeightsWhole = false),
        unchanged: () => (areWeightsWhole = true),
      });
      budget.stepEnds();
      metrics = { ...result.metrics, ...budget.metrics() };
      state = { ...state, ...result.state, step };
      areWeightsWhole = true;
      learning.add(metrics);
      await journal.flush();
      journal.metrics(step, "train", metrics);
      emit(step, { type: "step-end", metrics });
      // It is saved below, as after any error between two steps.
      if (result.stop !== null) throw result.stop;
      health.see(step, "train", metrics);
      await validateIfDue();
      if (saveFreq > 0 && step % saveFreq === 0) await save();
    }
    await save();
    return null;
  }

  const result = (status: LoopResult["status"], message: string | null = null): LoopResult => ({
    status,
    message,
    steps: state.step,
    metrics,
    validation,
    checkpoint,
    best: state.best,
  });
  try {
    const whyStopped = await steps();
    if (whyStopped !== null) return result("out_of_budget", whyStopped);
    const why = valOnly ? null : learning.whyNothing;
    return why === null ? result("completed") : result("untrained", why);
  } catch (error) {
    if (areWeightsWhole) await saveAfter(error);
    if (isInterrupt(error, signal))
      return budget.signal.aborted
        ? result("out_of_budget", budget.whyStop)
        : result("interrupted");
    throw error;
  }

  /** The error that ended the run matters more than an error while saving after it. */
  async function saveAfter(error: unknown): Promise<void> {
    try {
      await save();
    } catch (saveError) {
      if (saveError === error) return;
      emit(state.step, {
        type: "warning",
        message: `The last completed step could not be saved: ${String(saveError)}`,
      });
    }
  }
}
