/** What a plan of batches that follows solve rates learns while a run goes on, and what a checkpoint keeps of it. */
import type { TaskRollouts } from "../rollouts/task-rollouts.ts";
import type { Evidence } from "./solve-rates.ts";

/** What a checkpoint holds of it. */
export interface CurriculumState {
  /** Field of the tasks that share an estimate; null where each has its own. */
  readonly groupKey: string | null;
  /** The newest batch that was sampled. */
  readonly batch: number;
  readonly evidence: readonly Evidence[];
  /** Batches whose tasks have not all been rolled out: their numbers, and the indices of their tasks. */
  readonly begun: readonly (readonly [batch: number, tasks: readonly number[]])[];
}

/** What a plan learns while a run goes on. */
export interface AdaptiveBatches {
  observe(rollouts: TaskRollouts): void;
  /** `curriculum/...`; counts begin anew with each call. */
  metrics(): Record<string, number>;
  /** @param needed batches of which some tasks are to be rolled out again */
  snapshot(needed: readonly number[]): CurriculumState;
}
