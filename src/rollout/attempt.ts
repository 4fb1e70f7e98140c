/**
 * One attempt at one task: a session of its own, the program within its deadline, and what was captured.
 * Knows nothing of retries or rewards.
 */
import { AgentTrainerError } from "../core/errors.ts";
import type { RolloutSession, SessionHost, SessionOptions } from "../core/session.ts";
import type { Task } from "../core/task.ts";
import { defaultTrajectoryName } from "../core/trajectory.ts";
import type { TerminationReason, Trajectory } from "../core/trajectory.ts";
import { raceAbort } from "../util/abort.ts";
import { attributeTraces } from "./attribution.ts";
import type { Attribution, AttributionContext } from "./attribution.ts";
import { resolveClaims } from "./claims.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { buildTrajectories } from "./enrich.ts";
import { makeFlowConfig } from "./flow-config.ts";
import type { FlowConfig } from "./flow-config.ts";
import type { FlowResult, RolloutProgram } from "./program.ts";
import { closeSession, openSession } from "./session.ts";
import { raceUserCode } from "./stray-errors.ts";
import { terminationOf } from "./termination.ts";
import { observeScopes } from "./trajectory-scope.ts";

export interface AttemptInput<Metadata> {
  readonly host: SessionHost;
  readonly program: RolloutProgram<Metadata>;
  readonly task: Task<Metadata>;
  readonly session: SessionOptions;
  readonly isValidation: boolean;
  readonly timeoutMs: number;
  /** What the set-up made. */
  readonly env: unknown;
  readonly untrainedRoles: readonly string[];
  /** The run's; aborting it rejects the attempt. */
  readonly signal: AbortSignal;
  readonly onWarning: (message: string) => void;
}

export type AttemptOutcome =
  | {
      readonly kind: "returned";
      readonly result: FlowResult;
      readonly trajectories: readonly Trajectory[];
      readonly terminationReason: TerminationReason;
      readonly metrics: Readonly<Record<string, number>>;
    }
  | { readonly kind: "failed"; readonly isTimeout: boolean; readonly error: unknown };

/**
 * Resolves at the deadline even if the program never returns; what it does after that is dropped. The
 * session is closed in all cases. Rejects only with the reason of `signal`.
 */
export async function runAttempt<Metadata>(input: AttemptInput<Metadata>): Promise<AttemptOutcome> {
  const what = `${input.program.what} on task "${input.task.id}"`;
  const deadline = startDeadline(what, input.timeoutMs, input.signal);
  let session: RolloutSession | undefined;
  try {
    session = await openSession(input.host, input.session, deadline.signal);
    return await runInSession(input, session, deadline);
  } catch (error) {
    input.signal.throwIfAborted();
    // A flow that heeds its signal rejects with an AbortError of its own; the deadline is the cause.
    if (deadline.hasPassed()) {
      return { kind: "failed", isTimeout: true, error: deadline.signal.reason };
    }
    deadline.abort(
      new AgentTrainerError({
        code: "ABORTED",
        message: "This attempt of the agent flow failed, so its remaining calls were stopped.",
        cause: error,
      }),
    );
    return { kind: "failed", isTimeout: false, error };
  } finally {
    deadline.dispose();
    const problem = session === undefined ? null : await closeSession(session);
    if (problem !== null) input.onWarning(problem);
  }
}

async function runInSession<Metadata>(
  input: AttemptInput<Metadata>,
  session: RolloutSession,
  deadline: Deadline,
): Promise<AttemptOutcome> {
  const { program, isValidation, env } = input;
  const { signal } = deadline;
  const flow = makeFlowConfig({ session, options: input.session, isValidation, signal, env });
  const startedAt = performance.now();
  const result = await runProgram(input, flow, deadline);
  const seconds = (performance.now() - startedAt) / 1000;

  const context = {
    sessionUid: session.uid,
    defaultName: program.name ?? defaultTrajectoryName,
    handles: new Map(Array.from(flow.known, ([uid, { role }]) => [uid, role])),
  };
  const traces = await raceAbort(session.traces(), signal);
  const { reports, byResponse } = resolveClaims(result.reports, traces, context);
  const attribution = attributeTraces(traces, { ...context, claims: byResponse });
  requireScopedFetch(flow, attribution, context);
  const untrainedUids = new Set(
    Array.from(flow.known).flatMap(([uid, { train }]) => (train ? [] : [uid])),
  );
  const marks = { untrainedUids, untrainedRoles: input.untrainedRoles };
  return {
    kind: "returned",
    result,
    trajectories: buildTrajectories(attribution.trajectories, reports, context, marks),
    terminationReason: result.terminationReason ?? "completed",
    metrics: { "time/flow_s": seconds, ...result.metrics, ...captureMetrics(attribution) },
  };
}

async function runProgram<Metadata>(
  { program, task }: AttemptInput<Metadata>,
  { config, scopes }: FlowConfig,
  deadline: Deadline,
): Promise<FlowResult> {
  // An async function, so that what a synchronous program throws is a rejection too.
  const run = async (): Promise<FlowResult> =>
    await observeScopes(scopes, () => program.run(task, config));
  try {
    return await raceUserCode(run, deadline);
  } catch (error) {
    const terminationReason = deadline.signal.aborted ? null : terminationOf(error);
    if (terminationReason === null) throw error;
    return { reports: [], output: undefined, terminationReason };
  }
}

/** `withTrajectory` can do nothing for calls of a client that was not given `config.fetch`. */
function requireScopedFetch(
  { scopes }: FlowConfig,
  attribution: Attribution,
  context: AttributionContext,
): void {
  const [name] = scopes.entered;
  if (name === undefined || scopes.calls > 0) return;
  const astray = attribution.trajectories.some((own) => own.name === context.defaultName);
  if (!astray) return;
  throw new AgentTrainerError({
    code: "ROLLOUT_FAILED",
    message: `withTrajectory("${name}", ...) was used, but no call came through config.fetch, so its calls cannot be told apart.`,
    hint: "Make the client with fetch: config.fetch, or with config.trajectory(name).baseUrl.",
    fields: { name },
  });
}

/** Numbers of what was captured; tokens are those of steps that can be trained on. */
function captureMetrics(attribution: Attribution): Record<string, number> {
  const traces = attribution.trajectories.flatMap((trajectory) => trajectory.traces);
  return {
    turns: attribution.calls,
    "tokens/prompt": traces.reduce((sum, trace) => sum + trace.promptIds.length, 0),
    "tokens/response": traces.reduce((sum, trace) => sum + trace.responseIds.length, 0),
    truncated: traces.some((trace) => trace.stopReason === "length") ? 1 : 0,
    "calls/untrainable": attribution.untrainable,
    "calls/unattributed": attribution.unattributed,
    "calls/unused_choices": attribution.unusedChoices,
  };
}
