/** Rollouts that are compared with each other: all of one task in one batch. Plain data. */
import type { Episode } from "../../core/trajectory.ts";

export interface TaskRollouts {
  /** Unique in the run, as a task may come again: `{batch}/{task id}`. */
  readonly key: string;
  /** Step in which it was begun; where rollouts overlap with training, the exchange of weights. */
  readonly since: number;
  /** In the order of their indices. */
  readonly episodes: readonly Episode[];
}

/** Of which set each episode is, for `groupTrajectories`. */
export function rolloutsByEpisode(sets: readonly TaskRollouts[]): (episode: Episode) => string {
  const keys = new Map(sets.flatMap(({ key, episodes }) => episodes.map((e) => [e, key] as const)));
  return (episode) => keys.get(episode) ?? episode.task.id;
}

/** The episodes of all sets, in order. */
export const episodesOf = (sets: readonly TaskRollouts[]): Episode[] =>
  sets.flatMap(({ episodes }) => episodes);
