/**
 * What makes steps, as the loop sees it: the same loop runs the synchronous and the asynchronous
 * stepper.
 */
import type { AgentTrainerError } from "../core/errors.ts";
import type { RunState } from "../runs/checkpoint.ts";
import type { BufferedRollouts } from "../rollouts/task-rollouts.ts";

/** Tracks for the loop whether the weights are still those of the last completed step. */
export interface UpdateGuard {
  /** Call right before the weights change. */
  begin(): void;
  /** The update was refused as a whole: nothing changed. */
  unchanged(): void;
}

/** What a checkpoint of the last completed step must hold in addition to the weights. */
export interface Buffered {
  readonly rollouts: BufferedRollouts;
  readonly position: RunState["position"];
  readonly hasUnservedWeights: boolean;
}

/** What a step changes in the state of the run. */
export type StepState = Pick<RunState, "weightVersion" | "position" | "skippedUpdates">;

export interface StepResult {
  readonly state: StepState;
  readonly metrics: Readonly<Record<string, number>>;
  /** Why the run ends after this step; null continues. */
  readonly stop: AgentTrainerError | null;
}

export interface Stepper extends AsyncDisposable {
  /** Runs step `step`, from 1, after the one before it. */
  step(step: number, state: StepState, guard: UpdateGuard): Promise<StepResult>;
  /** Runs a validation while no rollouts for training are started. */
  validating<T>(validation: () => Promise<T>): Promise<T>;
  /** A snapshot: what happens later does not change it. */
  held(): Buffered;
}
