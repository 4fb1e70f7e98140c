/** One rollout: attempts until one returns, then the score. Failures become part of the episode. */
import type { Evaluator } from "../core/agent.ts";
import type { TaskHooks, TaskSetup } from "../core/hooks.ts";
import type { SessionHost, SessionOptions } from "../core/session.ts";
import type { Episode } from "../core/trajectory.ts";
import { delay } from "../util/abort.ts";
import { deriveSeed } from "../util/random.ts";
import { runAttempt } from "./attempt.ts";
import type { AttemptOutcome } from "./attempt.ts";
import { failedEpisode, returnedEpisode } from "./episode.ts";
import { errorFacts } from "./error-facts.ts";
import type { RolloutLimits } from "./limits.ts";
import type { RolloutProgram } from "./program.ts";
import type { RolloutEvent } from "./rollout-event.ts";
import type { RolloutRequest } from "./rollout-request.ts";
import { addScore } from "./score.ts";
import { withinAttempt } from "./stray-errors.ts";
import { setUpTask, tearDownTask } from "./task-setup.ts";

/** What all rollouts of a runner share. */
export interface RolloutSetup<Metadata> {
  readonly host: SessionHost;
  readonly program: RolloutProgram<Metadata>;
  /** null where the program, or the set-up of each task, brings the score. */
  readonly evaluator: Evaluator<Metadata> | null;
  readonly hooks?: TaskHooks<Metadata>;
  /** Roles that are sampled and scored, but not trained. @default none */
  readonly untrainedRoles?: readonly string[];
  readonly limits: RolloutLimits;
}

export interface RolloutContext {
  readonly sampling: SessionOptions["sampling"];
  readonly isValidation: boolean;
  readonly signal: AbortSignal;
  readonly emit: (event: RolloutEvent) => void;
}

/** An attempt that failed may be followed by another one. */
type Attempted =
  | { readonly episode: Episode; readonly failure: null }
  | { readonly episode: null; readonly failure: AttemptOutcome & { readonly kind: "failed" } };

/** Rejects only with the reason of the context's signal. */
export async function runRollout<Metadata>(
  setup: RolloutSetup<Metadata>,
  request: RolloutRequest<Metadata>,
  context: RolloutContext,
): Promise<Episode> {
  const { signal, emit } = context;
  for (let attempt = 1; ; attempt++) {
    const what = `rollout ${request.episodeId} (task "${request.task.id}")`;
    const { episode, failure } = await withinAttempt(
      what,
      (message) => emit({ type: "warning", message }),
      () => attemptOnce(setup, request, attempt, context),
    );
    if (episode !== null) return endRollout(episode, context);
    const { retries, retryDelayMs } = setup.limits;
    if (attempt > retries) return endRollout(failedEpisode(request, failure, attempt), context);
    const { name, message } = errorFacts(failure.error);
    emit({
      type: "rollout-retry",
      episodeId: request.episodeId,
      attempt,
      error: { name, message },
    });
    await delay(retryDelayMs * 2 ** (attempt - 1), signal);
  }
}

/** Whatever was set up is torn down again, after the score. */
async function attemptOnce<Metadata>(
  setup: RolloutSetup<Metadata>,
  request: RolloutRequest<Metadata>,
  attempt: number,
  context: RolloutContext,
): Promise<Attempted> {
  const { hooks, limits } = setup;
  const { task, episodeId } = request;
  const { signal, isValidation, emit } = context;
  const onWarning = (message: string): void => {
    emit({ type: "warning", message });
  };
  const startedAt = performance.now();
  let prepared: TaskSetup<Metadata> = {};
  if (hooks !== undefined) {
    try {
      const info = { episodeId, attempt, isValidation };
      prepared = await setUpTask(hooks, task, info, limits, signal, onWarning);
    } catch (error) {
      signal.throwIfAborted();
      const failure = { kind: "failed", isTimeout: isDeadline(error), error } as const;
      return { episode: null, failure };
    }
  }
  const setUpS = (performance.now() - startedAt) / 1000;
  try {
    const outcome = await attemptSetUp(setup, request, attempt, context, prepared, onWarning);
    if (outcome.kind === "failed") return { episode: null, failure: outcome };
    const metrics =
      hooks === undefined ? outcome.metrics : { ...outcome.metrics, "time/setup_s": setUpS };
    const unscored = returnedEpisode(request, { ...outcome, metrics }, attempt);
    const evaluator = prepared.evaluator ?? setup.evaluator;
    const limitMs = limits.evaluatorTimeoutMs;
    const scoring = { evaluator, result: outcome.result, task, limitMs, signal, emit };
    return { episode: await addScore(unscored, scoring), failure: null };
  } finally {
    await tearDownTask(prepared, task.id, limits, onWarning);
  }
}

async function attemptSetUp<Metadata>(
  { host, program, limits, untrainedRoles = [] }: RolloutSetup<Metadata>,
  { task, rolloutIndex, episodeId, seed }: RolloutRequest<Metadata>,
  attempt: number,
  { sampling, isValidation, signal }: RolloutContext,
  prepared: TaskSetup<Metadata>,
  onWarning: (message: string) => void,
): Promise<AttemptOutcome> {
  return await runAttempt({
    host,
    program,
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
    env: prepared.env,
    untrainedRoles,
    signal,
    onWarning,
  });
}

const isDeadline = (error: unknown): boolean => errorFacts(error).code === "TIMEOUT";

/** Tells that a rollout is over. */
export function endRollout(episode: Episode, { emit, isValidation }: RolloutContext): Episode {
  emit({
    type: "rollout-end",
    episodeId: episode.id,
    taskId: episode.task.id,
    reward: episode.reward,
    terminationReason: episode.terminationReason,
    isValidation,
  });
  return episode;
}
