/** The request for one rollout. */
import type { Task } from "../core/task.ts";

export interface RolloutRequest<Metadata = Record<string, unknown>> {
  readonly task: Task<Metadata>;
  /** Index from 0 to n-1 among the rollouts of this task in this batch. */
  readonly rolloutIndex: number;
  /** Becomes `episode.id`; unique within the run. */
  readonly episodeId: string;
  /** The seed of each attempt's session is derived from it. */
  readonly seed: number;
}
