/**
 * One attempt at one task: a session of its own, the flow within its deadline, and what was captured.
 * Knows nothing of retries or rewards.
 */
import type { AgentConfig, AgentFlow } from "../core/agent.ts";
import { AgentTrainerError } from "../core/errors.ts";
import type { RolloutSession, SessionHost, SessionOptions } from "../core/session.ts";
import type { Task } from "../core/task.ts";
import { defaultTrajectoryName } from "../core/trajectory.ts";
import type { Trajectory } from "../core/trajectory.ts";
import { raceAbort } from "../util/abort.ts";
import { attributeTraces } from "./attribution.ts";
import type { Attribution } from "./attribution.ts";
import { startDeadline } from "./deadline.ts";
import { buildTrajectories } from "./enrich.ts";
import { readFlowResult } from "./flow-result.ts";
import { closeSession, openSession } from "./session.ts";

export interface AttemptInput<Metadata> {
  readonly host: SessionHost;
  readonly flow: AgentFlow<Metadata>;
  readonly task: Task<Metadata>;
  readonly session: SessionOptions;
  readonly isValidation: boolean;
  readonly timeoutMs: number;
  /** The run's; aborting it rejects the attempt. */
  readonly signal: AbortSignal;
  readonly onWarning: (message: string) => void;
}

export type AttemptOutcome =
  | {
      readonly kind: "returned";
      readonly trajectories: readonly Trajectory[];
      readonly output: unknown;
      readonly metrics: Readonly<Record<string, number>>;
    }
  | { readonly kind: "failed"; readonly isTimeout: boolean; readonly error: unknown };

/**
 * Resolves at the deadline even if the flow never returns; what the flow does after that is dropped.
 * The session is closed in all cases. Rejects only with the reason of `signal`.
 */
export async function runAttempt<Metadata>(input: AttemptInput<Metadata>): Promise<AttemptOutcome> {
  const what = `The agent flow on task "${input.task.id}"`;
  const deadline = startDeadline(what, input.timeoutMs, input.signal);
  let session: RolloutSession | undefined;
  try {
    session = await openSession(input.host, input.session, deadline.signal);
    return await runInSession(input, session, deadline.signal);
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
  { flow, task, ...input }: AttemptInput<Metadata>,
  session: RolloutSession,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const handles = new Map<string, string>();
  const config = makeConfig(input, session, signal, handles);
  const startedAt = performance.now();
  // An async function, so that what a synchronous flow throws is a rejection too.
  const run = async (): Promise<unknown> =>
    await (typeof flow === "function" ? flow(task, config) : flow.run(task, config));
  const returned = await raceAbort(run(), signal);
  const seconds = (performance.now() - startedAt) / 1000;

  const { reports, output } = readFlowResult(returned);
  const flowName = typeof flow === "function" ? undefined : flow.name;
  const context = {
    sessionUid: session.uid,
    defaultName: flowName === undefined || flowName === "" ? defaultTrajectoryName : flowName,
    handles,
  };
  const attribution = attributeTraces(await raceAbort(session.traces(), signal), context);
  const trajectories = buildTrajectories(attribution.trajectories, reports, context);
  const metrics = { "time/flow_s": seconds, ...captureMetrics(attribution) };
  return { kind: "returned", trajectories, output, metrics };
}

function makeConfig(
  input: Pick<AttemptInput<unknown>, "session" | "isValidation">,
  session: RolloutSession,
  signal: AbortSignal,
  handles: Map<string, string>,
): AgentConfig {
  return {
    baseUrl: session.baseUrl,
    apiKey: session.apiKey,
    model: session.model,
    sessionUid: session.uid,
    isValidation: input.isValidation,
    samplingParams: { ...input.session.sampling },
    metadata: input.session.metadata ?? {},
    signal,
    trajectory: (name) => {
      const handle = session.trajectory(name);
      handles.set(handle.uid, handle.name);
      return handle;
    },
  };
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
