/** What a run learns from: the part of it that differs between rollouts and examples. */
import type { ConfigChange } from "../core/events.ts";
import type { RunState } from "../runs/checkpoint.ts";
import type { OpenRunOptions, RunDirectory } from "../runs/run-directory.ts";
import type { ValidationGoal } from "../runs/validation-goal.ts";
import type { LoopResult } from "./loop.ts";
import type { RunContext } from "./run-context.ts";
import type { Stepper } from "./steppers/stepper.ts";

/** A run that is open, and where it begins. */
export interface StartedRun extends RunContext {
  readonly directory: RunDirectory;
  readonly state: RunState;
  readonly warn: (message: string) => void;
  /** Gives the backend the weights of the checkpoint; a new run has those that it loaded. */
  restore(): Promise<void>;
  /** Makes all steps, once everything is there that they need. @param onSave after each checkpoint */
  loop(stepper: Stepper, onSave?: (step: number) => void): Promise<LoopResult>;
}

export interface Training {
  readonly totalSteps: number;
  readonly goal: ValidationGoal;
  /** What a checkpoint says of the data. */
  readonly data: Pick<RunState, "dataHash" | "valHash" | "orders">;
  /** @see OpenRunOptions.checkData */
  readonly checkData: OpenRunOptions["checkData"];
  /** The state of a checkpoint in terms of the options and the data of now. */
  readonly resumed: (
    state: RunState,
    changes: readonly ConfigChange[],
    folder: string,
  ) => RunState | Promise<RunState>;
  /** What may surprise, as sentences. */
  readonly warnings: readonly string[];
  /** What is expected to be paid, as a sentence; null where nothing says so. */
  readonly estimate: string | null;
  /** Starts what the steps need, has them made, and closes it again. */
  train(run: StartedRun): Promise<LoopResult>;
}
