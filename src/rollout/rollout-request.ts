/** What one rollout is asked for. */
import type { Task } from "../core/task.ts";

export interface RolloutRequest<Metadata = Record<string, unknown>> {
  readonly task: Task<Metadata>;
  /** From 0 to n-1 among the rollouts of this task in this batch. */
  readonly rolloutIndex: number;
  /** Becomes `episode.id`; unique within the run. */
  readonly episodeId: string;
  /** Each attempt derives its session's seed from it. */
  readonly seed: number;
}
