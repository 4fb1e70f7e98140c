/**
 * What became of a rollout: failed, cut off, scored. The one place that decides it, for rollouts, groups,
 * metrics and the limit on failures alike.
 */
import type { Episode } from "./trajectory.ts";

type Ended = Pick<Episode, "terminationReason" | "reward" | "error">;

/** It was stopped, or never began, because something else ended the run. Nobody's failure. */
export function isCutOff({ terminationReason }: Pick<Episode, "terminationReason">): boolean {
  return terminationReason === "aborted";
}

/**
 * It did not do what it was to do: the agent, what it needs, or the evaluator broke, or its time limit
 * ended it. A workflow that ends by a limit of its own with the reason `timeout` has not failed.
 */
export function isFailed({ terminationReason, reward, error }: Ended): boolean {
  switch (terminationReason) {
    case "error":
    case "evaluator_error":
      return true;
    case "timeout":
      return error !== undefined || reward === null;
    default:
      return false;
  }
}

/** It has a reward that counts: in metrics, and in training. A failure that is the agent's own has one. */
export function isScored(episode: Ended): boolean {
  return (
    episode.reward !== null && episode.terminationReason !== "evaluator_error" && !isCutOff(episode)
  );
}

/**
 * It counts against `trainer.max_failed_share`: it failed without a score, or before a single model call
 * had succeeded, so that no training could make it better.
 */
export function isFault(episode: Ended & Pick<Episode, "metrics">): boolean {
  if (!isFailed(episode)) return false;
  return !isScored(episode) || (episode.metrics["turns"] ?? 0) === 0;
}
