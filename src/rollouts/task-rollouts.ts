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
