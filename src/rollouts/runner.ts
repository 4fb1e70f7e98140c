/** Runs many rollouts concurrently, until too many have failed. Uses sessions by their contract only. */
import { listenToAbort } from "../util/abort.ts";
import { AgentTrainerError } from "../core/errors.ts";
import type { SessionOptions } from "../core/session.ts";
import { isFault } from "../core/outcome.ts";
import type { Episode } from "../core/trajectory.ts";
import { mapConcurrent } from "../util/concurrency.ts";
import { requireCallable } from "./programs/callable.ts";
import type { RolloutEvent } from "../core/events.ts";
import { abortedEpisode } from "./episode.ts";
import { endRollout, runRollout, type RolloutSetup } from "./rollout.ts";
import type { RolloutRequest } from "./rollout-request.ts";

interface RolloutRunOptions {
  /** Enforced by the gateway, whatever the agent sends. */
  readonly sampling: SessionOptions["sampling"];
  readonly isValidation: boolean;
  /** Aborting it closes all sessions and rejects the run with its reason. */
  readonly signal: AbortSignal;
  /**
   * Circuit breaker: as soon as more rollouts than this have failed after all retries, running ones
   * are cut off, no more are started, and both are returned as `aborted`. Failures that the agent
   * caused after the model had responded do not count.
   * @default Infinity
   */
  readonly maxFailures?: number;
  /** Called synchronously with every event; must not throw. */
  readonly onEvent?: (event: RolloutEvent) => void;
}

export interface RolloutRunner<Metadata = Record<string, unknown>> {
  /**
   * One episode per request, in the same order. A rollout that fails becomes an episode with
   * `terminationReason` "error" or "timeout", and does not affect the others. `core/outcome.ts`
   * defines which failures count.
   */
  run(
    requests: readonly RolloutRequest<Metadata>[],
    options: RolloutRunOptions,
  ): Promise<readonly Episode[]>;
}

/** @throws ConfigError when the evaluator is not callable. */
export function createRolloutRunner<Metadata = Record<string, unknown>>(
  setup: RolloutSetup<Metadata>,
): RolloutRunner<Metadata> {
  if (setup.evaluator !== null) requireCallable("evaluator", setup.evaluator, "evaluate");
  return {
    run: async (requests, options) => await runAll(setup, requests, options),
  };
}

async function runAll<Metadata>(
  setup: RolloutSetup<Metadata>,
  requests: readonly RolloutRequest<Metadata>[],
  { sampling, isValidation, signal, maxFailures = Infinity, onEvent }: RolloutRunOptions,
): Promise<readonly Episode[]> {
  const emit = (event: RolloutEvent): void => onEvent?.(event);
  const cuts = new Set<AbortController>();
  let failures = 0;
  let breaker: AgentTrainerError | null = null;

  const count = (episode: Episode): Episode => {
    if (isFault(episode) && ++failures > maxFailures && breaker === null) {
      breaker = circuitOpen(failures, requests.length);
      emit({ type: "warning", message: breaker.message });
      for (const cut of cuts) cut.abort(breaker);
    }
    return episode;
  };

  return await mapConcurrent(
    requests,
    setup.limits.concurrency,
    async (request, _index, own) => {
      const cut = new AbortController();
      const follow = (): void => {
        cut.abort(own.reason);
      };
      listenToAbort(own, follow);
      cuts.add(cut);
      const context = { sampling, isValidation, signal: cut.signal, emit };
      try {
        if (breaker !== null) return endRollout(abortedEpisode(request), context);
        return count(await runRollout(setup, request, context));
      } catch (error) {
        if (breaker === null || error !== breaker) throw error;
        return endRollout(abortedEpisode(request), context);
      } finally {
        cuts.delete(cut);
        own.removeEventListener("abort", follow);
      }
    },
    signal,
  );
}

function circuitOpen(failures: number, rollouts: number): AgentTrainerError {
  return new AgentTrainerError({
    code: "TOO_MANY_FAILURES",
    message: `${failures} of ${rollouts} rollouts have failed, so the remaining ones were cut off.`,
    hint: "Run the agent and the evaluator on one task by hand.",
    fields: { failures, rollouts },
  });
}
