/** Episodes of rollouts that returned, failed, or were cut off. Plain data, not scored yet. */
import type { Task } from "../core/task.ts";
import { reasonOfFailure } from "../core/outcome.ts";
import type { FailedCall, Episode } from "../core/trajectory.ts";
import { defined } from "../util/defined.ts";
import type { AttemptOutcome } from "./attempt/attempt.ts";
import { errorFacts } from "./failures/error-facts.ts";
import type { FailurePolicy, RolloutRequest } from "./rollout-request.ts";

type Unfinished = Omit<Episode, "terminationReason" | "error">;

function emptyEpisode<Metadata>(request: RolloutRequest<Metadata>, attempts: number): Unfinished {
  return {
    id: request.episodeId,
    // Episodes carry tasks of any type; the evaluator receives the typed one separately.
    task: request.task as unknown as Task,
    rolloutIndex: request.rolloutIndex,
    trajectories: [],
    output: undefined,
    isCorrect: null,
    reward: null,
    metrics: {},
    metadata: {},
    attempts,
  };
}

export function returnedEpisode<Metadata>(
  request: RolloutRequest<Metadata>,
  outcome: AttemptOutcome & { readonly kind: "returned" },
  attempts: number,
): Episode {
  const { result, trajectories, metrics, terminationReason, failedCalls } = outcome;
  return {
    ...emptyEpisode(request, attempts),
    trajectories,
    output: result.output,
    metrics,
    metadata: result.metadata ?? {},
    terminationReason,
    ...defined({ error: result.error }),
    ...madeWithout(failedCalls),
  };
}

const madeWithout = (failedCalls: readonly FailedCall[]): Pick<Episode, "failedCalls"> =>
  failedCalls.length === 0 ? {} : { failedCalls };

/**
 * A failure caused by the agent itself is a rollout like any other: it has a reward, and its calls
 * can be trained on.
 */
export function scoreFailure(episode: Episode, { reward, retriesAgent }: FailurePolicy): Episode {
  if (retriesAgent) return { ...episode, trajectories: [], reward: null, isCorrect: null };
  const trajectories = episode.trajectories.map((trajectory) =>
    Object.assign({}, trajectory, { reward }),
  );
  return { ...episode, trajectories, reward, isCorrect: false };
}

export function failedEpisode<Metadata>(
  request: RolloutRequest<Metadata>,
  outcome: AttemptOutcome & { readonly kind: "failed" },
  attempts: number,
  policy: FailurePolicy,
): Episode {
  const { isTimeout, error, fault, trajectories, metrics, failedCalls } = outcome;
  const facts = errorFacts(error);
  const failed: Episode = {
    ...emptyEpisode(request, attempts),
    terminationReason: reasonOfFailure(isTimeout, facts.code),
    error: facts,
    ...madeWithout(failedCalls),
  };
  if (fault !== "agent" || policy.retriesAgent) return failed;
  return scoreFailure({ ...failed, trajectories, metrics }, policy);
}

/**
 * Nothing could score a rollout that a prompt ended which did not fit: the agent returned no output. It has the
 * reward of a failure, like one that the agent caused, and ended as it did.
 */
export function scoreOverflow(episode: Episode, failureReward: number): Episode {
  const trajectories = episode.trajectories.map((trajectory) =>
    Object.assign({}, trajectory, { reward: trajectory.reward ?? failureReward }),
  );
  return { ...episode, trajectories, reward: failureReward, isCorrect: false };
}

/** A rollout that was cut off, or never started, because too many others failed. */
export function abortedEpisode<Metadata>(request: RolloutRequest<Metadata>): Episode {
  return { ...emptyEpisode(request, 0), terminationReason: "aborted" };
}
