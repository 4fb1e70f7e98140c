/** One rollout: attempts until one returns, then the evaluator. Failures become part of the episode. */
import type { AgentFlow, Evaluator } from "../core/agent.ts";
import type { SessionHost, SessionOptions } from "../core/session.ts";
import type { Task } from "../core/task.ts";
import type { Episode } from "../core/trajectory.ts";
import { delay } from "../util/abort.ts";
import { deriveSeed } from "../util/random.ts";
import { runAttempt } from "./attempt.ts";
import type { AttemptOutcome } from "./attempt.ts";
import { errorFacts } from "./error-facts.ts";
import { evaluateEpisode, scoreEpisode } from "./evaluate.ts";
import type { RolloutLimits } from "./limits.ts";
import type { RolloutEvent } from "./rollout-event.ts";

export interface RolloutRequest<Metadata = Record<string, unknown>> {
  readonly task: Task<Metadata>;
  /** From 0 to n-1 among the rollouts of this task in this batch. */
  readonly rolloutIndex: number;
  /** Becomes `episode.id`; unique within the run. */
  readonly episodeId: string;
  /** Each attempt derives its session's seed from it. */
  readonly seed: number;
}

/** What all rollouts of a runner share. */
export interface RolloutSetup<Metadata> {
  readonly host: SessionHost;
  readonly flow: AgentFlow<Metadata>;
  readonly evaluator: Evaluator<Metadata>;
  readonly limits: RolloutLimits;
}

export interface RolloutContext {
  readonly sampling: SessionOptions["sampling"];
  readonly isValidation: boolean;
  readonly signal: AbortSignal;
  readonly emit: (event: RolloutEvent) => void;
}

/** Rejects only with the reason of the context's signal. */
export async function runRollout<Metadata>(
  setup: RolloutSetup<Metadata>,
  request: RolloutRequest<Metadata>,
  context: RolloutContext,
): Promise<Episode> {
  const { outcome, attempts } = await runAttempts(setup, request, context);
  const unscored = toEpisode(request, outcome, attempts);
  const episode =
    outcome.kind === "failed" ? unscored : await addScore(setup, request, unscored, context);
  context.emit({
    type: "rollout-end",
    episodeId: episode.id,
    taskId: request.task.id,
    reward: episode.reward,
    terminationReason: episode.terminationReason,
    isValidation: context.isValidation,
  });
  return episode;
}

async function runAttempts<Metadata>(
  { host, flow, limits }: RolloutSetup<Metadata>,
  { task, rolloutIndex, episodeId, seed }: RolloutRequest<Metadata>,
  { sampling, isValidation, signal, emit }: RolloutContext,
): Promise<{ readonly outcome: AttemptOutcome; readonly attempts: number }> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await runAttempt({
      host,
      flow,
      task,
      session: {
        // New for each attempt, so that nothing an earlier one still does can reach this one.
        uid: `${episodeId}#${attempt}`,
        seed: deriveSeed(seed, attempt),
        sampling,
        metadata: { taskId: task.id, episodeId, rolloutIndex, attempt, isValidation },
      },
      isValidation,
      timeoutMs: limits.timeoutMs,
      signal,
      onWarning: (message) => {
        emit({ type: "warning", message });
      },
    });
    if (outcome.kind === "returned" || attempt > limits.retries) {
      return { outcome, attempts: attempt };
    }
    const { name, message } = errorFacts(outcome.error);
    emit({ type: "rollout-retry", episodeId, attempt, error: { name, message } });
    await delay(limits.retryDelayMs * 2 ** (attempt - 1), signal);
  }
}

function toEpisode<Metadata>(
  request: RolloutRequest<Metadata>,
  outcome: AttemptOutcome,
  attempts: number,
): Episode {
  const common = {
    id: request.episodeId,
    // Episodes carry tasks of any kind; the evaluator gets the typed one beside it.
    task: request.task as unknown as Task,
    rolloutIndex: request.rolloutIndex,
    isCorrect: null,
    reward: null,
    metadata: {},
    attempts,
  };
  if (outcome.kind === "returned") {
    const { trajectories, output, metrics } = outcome;
    return { ...common, trajectories, output, metrics, terminationReason: "completed" };
  }
  return {
    ...common,
    trajectories: [],
    output: undefined,
    metrics: {},
    terminationReason: outcome.isTimeout ? "timeout" : "error",
    error: errorFacts(outcome.error),
  };
}

async function addScore<Metadata>(
  { evaluator, limits }: RolloutSetup<Metadata>,
  { task }: RolloutRequest<Metadata>,
  unscored: Episode,
  { signal, emit }: RolloutContext,
): Promise<Episode> {
  const startedAt = performance.now();
  const limitMs = limits.evaluatorTimeoutMs;
  try {
    const evaluation = await evaluateEpisode(evaluator, task, unscored, limitMs, signal);
    const seconds = (performance.now() - startedAt) / 1000;
    const metrics = { ...unscored.metrics, "time/evaluator_s": seconds };
    return scoreEpisode({ ...unscored, metrics }, evaluation);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = errorFacts(thrown);
    const { name, message } = error;
    emit({
      type: "evaluator-error",
      episodeId: unscored.id,
      taskId: task.id,
      error: { name, message },
    });
    return { ...unscored, terminationReason: "evaluator_error", error };
  }
}
