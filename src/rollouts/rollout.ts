/** One rollout: attempts until one returns, then the score. Failures become part of the episode. */
import type { Evaluator } from "../core/agent.ts";
import type { TaskHooks, TaskSetup } from "../core/hooks.ts";
import type { RoleAdapters, SessionHost, SessionOptions } from "../core/session.ts";
import type { SideCallUse } from "../core/side-call.ts";
import { defaultTrajectoryName, type Episode } from "../core/trajectory.ts";
import { delay } from "../util/abort.ts";
import { copyPlain } from "../util/copy-plain.ts";
import { deriveSeed } from "../util/random.ts";
import { backOffMs } from "../util/retry.ts";
import { runAttempt, type AttemptOutcome } from "./attempt/attempt.ts";
import { nothingCaptured } from "./attempt/captured.ts";
import { failedEpisode, returnedEpisode, scoreFailure } from "./episode.ts";
import { errorFacts } from "./failures/error-facts.ts";
import {
  defaultFailurePolicy,
  type FailurePolicy,
  type RolloutLimits,
  type RolloutRequest,
} from "./rollout-request.ts";
import type { RolloutProgram } from "./programs/program.ts";
import type { RolloutEvent } from "../core/events.ts";
import { addScore, defaultScorePolicy, type ScorePolicy } from "./scoring/score.ts";
import { withinAttempt } from "./failures/stray-errors.ts";
import { setUpTask, tearDownTask } from "./attempt/task-setup.ts";

/** What all rollouts of a runner share. */
export interface RolloutSetup<Metadata> {
  readonly host: SessionHost;
  readonly program: RolloutProgram<Metadata>;
  /** null if the program, or the setup of each task, provides the score. */
  readonly evaluator: Evaluator<Metadata> | null;
  readonly hooks?: TaskHooks<Metadata>;
  /** Roles that are sampled and scored, but excluded from training. @default none */
  readonly untrainedRoles?: readonly string[];
  /** Adapters of roles; null is the base alone, which is not trained. @default none */
  readonly adapters?: RoleAdapters["byRole"];
  /** Which calls next to the task, such as titles, are trained on. @default "own" */
  readonly sideCallUse?: SideCallUse;
  /** Episodes also hold calls that cannot be trained on, such as those without token ids. @default false */
  readonly keepsUntrainable?: boolean;
  /** @default scored with 0, never retried */
  readonly failures?: FailurePolicy;
  /** @default the evaluator's reward */
  readonly scores?: ScorePolicy;
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
    const policy = policyOf(setup, context);
    if (attempt > retries || !isWorthRetrying(failure, policy)) {
      return endRollout(failedEpisode(request, failure, attempt, policy), context);
    }
    const { name, message } = errorFacts(failure.error);
    emit({
      type: "rollout-retry",
      episodeId: request.episodeId,
      attempt,
      error: { name, message },
    });
    await delay(backOffMs(attempt, { firstMs: retryDelayMs }), signal);
  }
}

/** A validation measures the agent as it is, so failures of the agent are never retried there. */
function policyOf(
  { failures = defaultFailurePolicy }: Pick<RolloutSetup<never>, "failures">,
  { isValidation }: RolloutContext,
): FailurePolicy {
  return isValidation ? { ...failures, retriesAgent: false } : failures;
}

function isWorthRetrying(
  { fault, isFinal }: AttemptOutcome & { readonly kind: "failed" },
  { retriesAgent }: FailurePolicy,
): boolean {
  return !isFinal && (fault === "infrastructure" || retriesAgent);
}

/** Whatever was set up is torn down again, after the score. */
async function attemptOnce<Metadata>(
  setup: RolloutSetup<Metadata>,
  request: RolloutRequest<Metadata>,
  attempt: number,
  context: RolloutContext,
): Promise<Attempted> {
  const { hooks, limits } = setup;
  const { episodeId } = request;
  const { signal, isValidation, emit } = context;
  // A copy, so that an attempt that changes its task affects no other one.
  const task = copyPlain(request.task);
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
      return { episode: null, failure: failedSetUp(error) };
    }
  }
  const setUpS = (performance.now() - startedAt) / 1000;
  try {
    const own = { ...request, task };
    const outcome = await attemptSetUp(setup, own, attempt, context, prepared, onWarning);
    if (outcome.kind === "failed") return { episode: null, failure: outcome };
    const metrics =
      hooks === undefined ? outcome.metrics : { ...outcome.metrics, "time/setup_s": setUpS };
    const unscored = returnedEpisode(request, { ...outcome, metrics }, attempt);
    const evaluator = prepared.evaluator ?? setup.evaluator;
    const limitMs = limits.evaluatorTimeoutMs;
    // It reports its own failure, so there is nothing to evaluate.
    if (outcome.terminationReason === "error") {
      return { episode: scoreFailure(unscored, policyOf(setup, context)), failure: null };
    }
    const { result } = outcome;
    const { scores = defaultScorePolicy } = setup;
    const policy = isValidation ? { ...scores, isScoredLater: false } : scores;
    const { reward: failureReward } = policyOf(setup, context);
    const how = { policy, failureReward, limitMs, signal, emit };
    const scoring = { evaluator, result, task: request.task, ...how };
    return { episode: await addScore(unscored, scoring), failure: null };
  } finally {
    await tearDownTask(prepared, task.id, limits, onWarning);
  }
}

async function attemptSetUp<Metadata>(
  {
    host,
    program,
    limits,
    untrainedRoles = [],
    adapters: byRole,
    sideCallUse = "own",
    keepsUntrainable = false,
  }: RolloutSetup<Metadata>,
  { task, rolloutIndex, episodeId, seed }: RolloutRequest<Metadata>,
  attempt: number,
  { sampling, isValidation, signal }: RolloutContext,
  prepared: TaskSetup<Metadata>,
  onWarning: (message: string) => void,
): Promise<AttemptOutcome> {
  const adapters =
    byRole === undefined
      ? {}
      : { adapters: { byRole, defaultRole: program.name ?? defaultTrajectoryName } };
  return await runAttempt({
    host,
    program,
    task,
    session: {
      // New for each attempt, so that an earlier one that still runs cannot reach this one.
      uid: `${episodeId}#${attempt}`,
      seed: deriveSeed(seed, attempt),
      sampling,
      metadata: { taskId: task.id, episodeId, rolloutIndex, attempt, isValidation },
      ...adapters,
    },
    isValidation,
    timeoutMs: limits.timeoutMs,
    env: prepared.env,
    environment: prepared.environment,
    untrainedRoles,
    sideCallUse,
    keepsUntrainable,
    signal,
    onWarning,
  });
}

const failedSetUp = (error: unknown): AttemptOutcome & { readonly kind: "failed" } => ({
  kind: "failed",
  isTimeout: errorFacts(error).code === "TIMEOUT",
  error,
  fault: "infrastructure",
  isFinal: false,
  ...nothingCaptured,
});

/** Emits the end of a rollout. */
export function endRollout(episode: Episode, { emit, isValidation }: RolloutContext): Episode {
  emit({
    type: "rollout-end",
    episodeId: episode.id,
    taskId: episode.task.id,
    reward: episode.reward,
    terminationReason: episode.terminationReason,
    isValidation,
    episode,
  });
  return episode;
}
