/**
 * The loop of every run: the order of steps, validations and checkpoints, and what is saved when a run
 * ends early.
 */
import {
  type BestValidation,
  pruneCheckpoints,
  type RunState,
  saveCheckpoint,
} from "../runs/checkpoint.ts";
import { isBetter, type ValidationGoal, waitOn, whyStop } from "../runs/validation-goal.ts";
import type { HealthWatch } from "./health-watch.ts";
import type { RunContext } from "./run-context.ts";
import { isInterrupt } from "./run-exit.ts";
import { secondsSince } from "./steppers/record.ts";
import type { Stepper } from "./steppers/stepper.ts";
import { LearningRecord } from "./update/learning.ts";

type Metrics = Readonly<Record<string, number>>;

export interface LoopResult {
  /**
   * `completed`: all steps are done, or it stopped early. `untrained`: the run ended, but no step changed
   * the weights; `message` says why. `out_of_budget`: a limit of `budget` ended it after its last complete
   * step. `interrupted`: the run's signal aborted it.
   */
  readonly status: "completed" | "untrained" | "out_of_budget" | "interrupted";
  /** Why nothing was learned, or which limit ended the run, as a sentence; null otherwise. */
  readonly message: string | null;
  /** Whether validations that were no better ended it before the last step. */
  readonly stoppedEarly: boolean;
  /** Steps completed over the whole run, including those before a resume. */
  readonly steps: number;
  /** Metrics of the last step of this process; null when there was none. */
  readonly metrics: Metrics | null;
  /** Metrics of the last validation of this process; null when there was none. */
  readonly validation: Metrics | null;
  /** Path of the newest checkpoint; null when there is none. */
  readonly checkpoint: string | null;
  /**
   * The best validation of the whole run, by `trainer.best_metric` or the lowest loss on held-out examples;
   * null when there was none.
   */
  readonly best: BestValidation | null;
}

export interface LoopStart {
  readonly goal: ValidationGoal;
  readonly health: HealthWatch;
  readonly state: RunState;
  /** Path of the checkpoint that `state` came from; null for a new run. */
  readonly checkpoint: string | null;
  readonly checkpointFolder: string;
  /** After each checkpoint. */
  readonly onSave?: (step: number) => void;
}

/** Makes steps from `start` to the last one. */
export function runLoop(run: RunContext, stepper: Stepper, start: LoopStart): Promise<LoopResult> {
  return new Loop(run, stepper, start).run();
}

/** Steps from the first one on that left nothing to train on, after which no more are made. */
const hopelessSteps = 3;

class Loop {
  readonly #run: RunContext;
  readonly #stepper: Stepper;
  readonly #start: LoopStart;
  readonly #learning: LearningRecord;
  #state: RunState;
  #checkpoint: string | null;
  #savedStep: number;
  #metrics: Metrics | null = null;
  #validation: Metrics | null = null;
  #areWeightsWhole = true;
  #stoppedEarly = false;

  constructor(run: RunContext, stepper: Stepper, start: LoopStart) {
    this.#run = run;
    this.#stepper = stepper;
    this.#start = start;
    this.#state = start.state;
    this.#checkpoint = start.checkpoint;
    this.#savedStep = start.checkpoint === null ? 0 : start.state.step;
    this.#learning = new LearningRecord(start.state.weightVersion > 0);
  }

  async run(): Promise<LoopResult> {
    const { budget, config, signal } = this.#run;
    try {
      const whyStopped = await this.#steps();
      if (whyStopped !== null) return this.#result("out_of_budget", whyStopped);
      const { stopWhenNothingLearned, valOnly } = config.trainer;
      const why = valOnly ? null : this.#learning.whyNothing;
      if (why !== null && stopWhenNothingLearned) this.#learning.stopIfHopeless(1);
      return why === null ? this.#result("completed") : this.#result("untrained", why);
    } catch (error) {
      if (this.#areWeightsWhole) await this.#saveAfter(error);
      if (!isInterrupt(error, signal)) throw error;
      return budget.signal.aborted
        ? this.#result("out_of_budget", budget.whyStop)
        : this.#result("interrupted");
    }
  }

  /** @returns why the budget ends it before the last step, if it does. */
  async #steps(): Promise<string | null> {
    const { budget, config, emit, signal, totalSteps } = this.#run;
    const { saveFreq, valOnly } = config.trainer;
    await this.#validateIfDue();
    const last = valOnly ? this.#state.step : totalSteps;
    while (this.#state.step < last) {
      signal.throwIfAborted();
      const { step, patience = null } = this.#state;
      const stop = whyStop(patience, step, this.#start.goal);
      if (stop !== null) {
        this.#stoppedEarly = true;
        emit(step, { type: "warning", message: stop });
        break;
      }
      if (budget.whyStop !== null) {
        await this.#save();
        return budget.whyStop;
      }
      await this.#step(step + 1);
      await this.#validateIfDue();
      if (saveFreq > 0 && (step + 1) % saveFreq === 0) await this.#save();
    }
    await this.#save();
    return null;
  }

  async #step(step: number): Promise<void> {
    const { budget, emit, journal } = this.#run;
    budget.stepBegins();
    const { state, metrics, stop } = await this.#stepper.step(step, this.#state, {
      begin: () => (this.#areWeightsWhole = false),
      unchanged: () => (this.#areWeightsWhole = true),
    });
    budget.stepEnds();
    this.#metrics = metrics;
    this.#state = { ...this.#state, ...state, step };
    this.#areWeightsWhole = true;
    this.#learning.add(metrics);
    await journal.flush();
    journal.metrics(step, "train", metrics);
    emit(step, { type: "step-end", metrics });
    // It is saved after this, as after any error between two steps.
    if (stop !== null) throw stop;
    this.#start.health.see(step, "train", metrics);
    if (this.#run.config.trainer.stopWhenNothingLearned)
      this.#learning.stopIfHopeless(hopelessSteps);
  }

  get #isValidationDue(): boolean {
    const { testFreq, valBeforeTrain, valOnly } = this.#run.config.trainer;
    const { step, validatedStep } = this.#state;
    // A resumed run was requested to validate the weights that it restored, whatever their state.
    if (valOnly) return this.#validation === null;
    if (validatedStep === step) return false;
    if (step === 0) return valBeforeTrain;
    return step >= this.#run.totalSteps || (testFreq > 0 && step % testFreq === 0);
  }

  async #validateIfDue(): Promise<void> {
    const { config, emit, journal } = this.#run;
    const { goal, health } = this.#start;
    const { validate } = this.#stepper;
    if (validate === null || !this.#isValidationDue) return;
    const { step, best, patience = null } = this.#state;
    const start = performance.now();
    const { metrics: measured, episodes } = await validate(step);
    const metrics: Metrics = { ...measured, "time/validation_s": secondsSince(start) };
    journal.metrics(step, "validation", metrics);
    emit(step, { type: "validation-end", metrics, episodes });
    this.#validation = metrics;
    const value = metrics[goal.metric];
    const isBest = isBetter(metrics, goal, best);
    this.#state = {
      ...this.#state,
      validatedStep: step,
      best: isBest ? { step, value: value as number } : best,
      patience: waitOn(patience, value, goal),
    };
    const { keepBest, valOnly } = config.trainer;
    if (isBest && keepBest && !valOnly) await this.#save();
    health.see(step, "validation", metrics);
  }

  async #save(): Promise<void> {
    const { backend, budget, config, emit, journal } = this.#run;
    const { keepBest, keepCheckpoints } = config.trainer;
    const { checkpointFolder: folder } = this.#start;
    const { step, best } = this.#state;
    if (this.#savedStep === step) return;
    // The record must not lag behind a checkpoint that survives a power loss.
    await journal.flush();
    journal.sync();
    const { rollouts, ...now } = this.#stepper.snapshot();
    const path = await saveCheckpoint(
      folder,
      { ...this.#state, ...now, ...(budget.isReported ? { spent: budget.usage } : {}) },
      (weights) => backend.saveState(weights),
      rollouts,
    );
    this.#checkpoint = path;
    this.#savedStep = step;
    await pruneCheckpoints(folder, keepCheckpoints, keepBest ? (best?.step ?? null) : null);
    this.#start.onSave?.(step);
    emit(step, { type: "checkpoint-save", path });
  }

  /** The error that ended the run matters more than an error while saving after it. */
  async #saveAfter(error: unknown): Promise<void> {
    try {
      await this.#save();
    } catch (saveError) {
      if (saveError === error) return;
      this.#run.emit(this.#state.step, {
        type: "warning",
        message: `The last completed step could not be saved: ${String(saveError)}`,
      });
    }
  }

  #result(status: LoopResult["status"], message: string | null = null): LoopResult {
    return {
      status,
      message,
      stoppedEarly: this.#stoppedEarly,
      steps: this.#state.step,
      metrics: this.#metrics,
      validation: this.#validation,
      checkpoint: this.#checkpoint,
      best: this.#state.best,
    };
  }
}
