/** What makes the steps of a run, as the loop sees it: the same loop runs every stepper. */
import type { AgentTrainerError } from "../../core/errors.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { TaskRollouts } from "../../rollouts/task-rollouts.ts";
import type { RunState } from "../../runs/checkpoint.ts";

/** Tracks for the loop whether the weights are still those of the last completed step. */
export interface UpdateGuard {
  /** Call right before the weights change. */
  begin(): void;
  /** The update was refused as a whole: nothing changed. */
  unchanged(): void;
}

/** What a checkpoint of the last completed step must hold in addition to the weights. */
export interface Snapshot extends Pick<RunState, "position" | "hasUnservedWeights" | "curriculum"> {
  readonly rollouts: readonly TaskRollouts[];
}

/** What a step changes in the state of the run. */
export type StepState = Pick<RunState, "weightVersion" | "position" | "skippedUpdates">;

export interface StepResult {
  readonly state: StepState;
  readonly metrics: Readonly<Record<string, number>>;
  /** Why the run ends after this step; null continues. */
  readonly stop: AgentTrainerError | null;
}

export interface Validation {
  readonly metrics: Readonly<Record<string, number>>;
  /** Empty where no agent runs. */
  readonly episodes: readonly Episode[];
}

export interface Stepper extends AsyncDisposable {
  /** Runs step `step`, from 1, after the one before it. */
  step(step: number, state: StepState, guard: UpdateGuard): Promise<StepResult>;
  /** Measures the weights after step `step`, without an update; null where nothing is held out. */
  readonly validate: ((step: number) => Promise<Validation>) | null;
  /** What happens later does not change it. */
  snapshot(): Snapshot;
}
