/** Rollouts that are compared with each other: all of one task in one batch. Plain data. */
import type { Episode } from "../core/trajectory.ts";

export interface TaskRollouts {
  /** Unique in the run, as a task may occur again: `{batch}/{task id}`. */
  readonly key: string;
  /** Step in which it was begun; in asynchronous training, the weight sync. */
  readonly since: number;
  /** In the order of their indices. */
  readonly episodes: readonly Episode[];
}

/** The episodes of all groups, in order. */
export const episodesOf = (sets: readonly TaskRollouts[]): Episode[] =>
  sets.flatMap(({ episodes }) => episodes);

/** Rollouts that a run holds between two steps; saved with its checkpoints. */
export interface BufferedRollouts {
  /** Chosen for a later step, oldest first. */
  readonly waiting: readonly TaskRollouts[];
  /** Already trained on, kept for replay; oldest first. */
  readonly replay: readonly TaskRollouts[];
}

export const nothingBuffered: BufferedRollouts = { waiting: [], replay: [] };
