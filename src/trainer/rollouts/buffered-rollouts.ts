/** Rollouts that a run carries over from one step to a later one. */
import type { TaskRollouts } from "./task-rollouts.ts";

/** Rollouts that a run holds between two steps; saved with its checkpoints. */
export interface BufferedRollouts {
  /** Chosen for a later step, oldest first. */
  readonly waiting: readonly TaskRollouts[];
  /** Already trained on, kept for replay; oldest first. */
  readonly replay: readonly TaskRollouts[];
}

export const nothingBuffered: BufferedRollouts = { waiting: [], replay: [] };
