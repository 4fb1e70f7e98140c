/** Episodes of rollouts that returned, failed, or were cut off. Plain data, no score yet. */
import type { Task } from "../core/task.ts";
import type { Episode } from "../core/trajectory.ts";
import type { AttemptOutcome } from "./attempt.ts";
import { errorFacts } from "./error-facts.ts";
import type { RolloutRequest } from "./rollout-request.ts";

type Unfinished = Omit<Episode, "terminationReason" | "error">;

function emptyEpisode<Metadata>(request: RolloutRequest<Metadata>, attempts: number): Unfinished {
  return {
    id: request.episodeId,
    // Episodes carry tasks of any kind; the evaluator gets the typed one beside it.
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
  const { result, trajectories, metrics, terminationReason } = outcome;
  return {
    ...emptyEpisode(request, attempts),
    trajectories,
    output: result.output,
    metrics,
    metadata: result.metadata ?? {},
    terminationReason,
  };
}

export function failedEpisode<Metadata>(
  request: RolloutRequest<Metadata>,
  { isTimeout, error }: AttemptOutcome & { readonly kind: "failed" },
  attempts: number,
): Episode {
  return {
    ...emptyEpisode(request, attempts),
    terminationReason: isTimeout ? "timeout" : "error",
    error: errorFacts(error),
  };
}

/** A rollout that was cut off, or never began, because too many others failed. */
export function abortedEpisode<Metadata>(request: RolloutRequest<Metadata>): Episode {
  return { ...emptyEpisode(request, 0), terminationReason: "aborted" };
}
