/** What a run keeps of rollouts from one step to a later one. */
import type { RolloutSet } from "./task-rollouts.ts";

/** Rollouts that a run holds between two steps; saved with its checkpoints. */
export interface HeldRollouts {
  /** Chosen for a later step, oldest first. */
  readonly waiting: readonly RolloutSet[];
  /** Trained on already, kept to be trained on again; oldest first. */
  readonly replay: readonly RolloutSet[];
}

export const nothingHeld: HeldRollouts = { waiting: [], replay: [] };
