/**
 * What became of a rollout: failed, cut off, scored. The one place that decides it, for rollouts, groups,
 * metrics and the limit on failures alike.
 */
import type { Episode, TerminationReason } from "./trajectory.ts";

type Ended = Pick<Episode, "terminationReason" | "reward" | "error">;

/** It was stopped, or never started, because something else ended the run. Does not count as a failure. */
export function isCutOff({ terminationReason }: Pick<Episode, "terminationReason">): boolean {
  return terminationReason === "aborted";
}

/**
 * A simulated user failed it, so it says nothing of the agent: it counts neither as incorrect nor with
 * `rollout.failure_reward`.
 */
export function isUserFault({ terminationReason }: Pick<Episode, "terminationReason">): boolean {
  return terminationReason === "user_error";
}

/** The reason of a rollout that failed, by the code of its error. */
export function reasonOfFailure(isTimeout: boolean, code: string | undefined): TerminationReason {
  if (isTimeout) return "timeout";
  return code === "USER_FAILED" ? "user_error" : "error";
}

/**
 * It did not complete: the agent, one of its dependencies, or the evaluator failed, or its time limit
 * ended it. A workflow that ends itself with the reason `timeout` has not failed.
 */
export function isFailed({ terminationReason, reward, error }: Ended): boolean {
  switch (terminationReason) {
    case "error":
    case "evaluator_error":
    case "user_error":
      return true;
    case "timeout":
      return error !== undefined || reward === null;
    default:
      return false;
  }
}

/** A prompt ended it that did not fit the context, or `data.max_prompt_length`. */
export function isOverflowed({ terminationReason }: Pick<Episode, "terminationReason">): boolean {
  return terminationReason === "max_prompt_length_exceeded";
}

/** It has a reward that counts: in metrics, and in training. A failure caused by the agent has one. */
export function isScored(episode: Ended): boolean {
  return (
    episode.reward !== null &&
    episode.terminationReason !== "evaluator_error" &&
    !isUserFault(episode) &&
    !isCutOff(episode)
  );
}

/**
 * It counts against `trainer.max_failed_fraction`: it failed without a score, or before a single model call
 * had succeeded, so that training cannot improve it.
 */
export function isFault(episode: Ended & Pick<Episode, "metrics">): boolean {
  if (!isFailed(episode)) return false;
  return !isScored(episode) || (episode.metrics["turns"] ?? 0) === 0;
}
