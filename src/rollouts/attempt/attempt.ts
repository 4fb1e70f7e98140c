/**
 * One attempt at one task: its own session, the program within its deadline, and the captured calls,
 * even if the program failed.
 */
import type { EnvironmentEpisode } from "../../core/environment.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import type { RolloutSession, SessionHost, SessionOptions } from "../../core/session.ts";
import type { SideCallUse } from "../../core/side-call.ts";
import type { Task } from "../../core/task.ts";
import type { TerminationReason } from "../../core/trajectory.ts";
import { raceAbort } from "../../util/abort.ts";
import {
  attributeTraces,
  type Attribution,
  type AttributionContext,
} from "../attribution/attribution.ts";
import {
  captureMetrics,
  contextOf,
  marksOf,
  nothingCaptured,
  salvage,
  type Captured,
} from "./captured.ts";
import { matchReports } from "../attribution/match-reports.ts";
import { type Deadline, startDeadline } from "../../core/deadline.ts";
import { buildTrajectories } from "../attribution/build-trajectories.ts";
import { verdictOf, type Fault } from "../failures/fault.ts";
import { makeFlowConfig, type FlowConfig } from "./flow-config.ts";
import type { FlowResult, RolloutProgram } from "../programs/program.ts";
import { requireRecordable } from "../programs/recordable.ts";
import { closeSession, openSession } from "./session.ts";
import { raceUserCode } from "../failures/stray-errors.ts";
import { endedBy, endingOf } from "../failures/termination.ts";
import { observeScopes } from "./trajectory-scope.ts";

export interface AttemptInput<Metadata> {
  readonly host: SessionHost;
  readonly program: RolloutProgram<Metadata>;
  /** A copy of the task for this attempt alone. */
  readonly task: Task<Metadata>;
  readonly session: SessionOptions;
  readonly isValidation: boolean;
  readonly timeoutMs: number;
  /** What the setup hook returned. */
  readonly env: unknown;
  /** The episode that it opened, if it did. */
  readonly environment?: EnvironmentEpisode | undefined;
  readonly untrainedRoles: readonly string[];
  /** @see AttributionContext.sideCallUse */
  readonly sideCallUse?: SideCallUse;
  /** @see AttributionContext.keepsUntrainable */
  readonly keepsUntrainable?: boolean;
  /** The signal of the run; aborting it rejects the attempt. */
  readonly signal: AbortSignal;
  readonly onWarning: (message: string) => void;
}

export type AttemptOutcome =
  | ({
      readonly kind: "returned";
      readonly result: FlowResult;
      readonly terminationReason: TerminationReason;
    } & Captured)
  | ({
      readonly kind: "failed";
      readonly isTimeout: boolean;
      readonly error: unknown;
      readonly fault: Fault;
      /** Another attempt would fail in the same way. */
      readonly isFinal: boolean;
    } & Captured);

/**
 * Resolves at the deadline even if the program never returns; what it does after that is dropped. The
 * session is closed in all cases. Rejects only with the reason of `signal`.
 */
export async function runAttempt<Metadata>(input: AttemptInput<Metadata>): Promise<AttemptOutcome> {
  const what = `${input.program.what} on task "${input.task.id}"`;
  const deadline = startDeadline(what, input.timeoutMs, input.signal);
  let session: RolloutSession | undefined;
  let flow: FlowConfig | undefined;
  try {
    session = await openSession(input.host, input.session, deadline.signal);
    const { isValidation, env, environment } = input;
    const { signal } = deadline;
    const options = input.session;
    flow = makeFlowConfig({ session, options, isValidation, signal, env, environment });
    return await runInSession(input, session, flow, deadline);
  } catch (error) {
    input.signal.throwIfAborted();
    // A flow that respects its signal rejects with its own AbortError; the deadline is the cause.
    const isTimeout = deadline.hasPassed();
    deadline.abort(
      new AgentTrainerError({
        code: "ABORTED",
        message: "This attempt of the agent flow failed, so its remaining calls were stopped.",
        cause: error,
      }),
    );
    const thrown: unknown = isTimeout ? deadline.signal.reason : error;
    const failed = { kind: "failed", isTimeout, error: thrown } as const;
    if (session === undefined || flow === undefined) {
      return { ...failed, ...nothingCaptured, fault: "infrastructure", isFinal: false };
    }
    const verdict = verdictOf(thrown, isTimeout, session.serverError?.() ?? null);
    const captured =
      verdict.fault === "agent" ? await salvage(input, session, flow) : nothingCaptured;
    input.signal.throwIfAborted();
    return { ...failed, ...verdict, ...captured };
  } finally {
    deadline.dispose();
    const problem = session === undefined ? null : await closeSession(session);
    if (problem !== null) input.onWarning(problem);
  }
}

async function runInSession<Metadata>(
  input: AttemptInput<Metadata>,
  session: RolloutSession,
  flow: FlowConfig,
  deadline: Deadline,
): Promise<AttemptOutcome> {
  const { signal } = deadline;
  const startedAt = performance.now();
  const result = await runProgram(input, flow, deadline);
  const seconds = (performance.now() - startedAt) / 1000;
  requireRecordable(input.program.what, result);

  const context = contextOf(input, session, flow);
  const traces = await raceAbort(session.traces(), signal);
  const failedCalls = session.failedCalls?.() ?? [];
  const { reports, byResponse, choices } = matchReports(result.reports, traces, context);
  const outputs = [result.output, ...reports.map(({ output }) => output)];
  const evidence = {
    named: choices,
    outputs: outputs.filter((output) => typeof output === "string"),
  };
  const attribution = attributeTraces(traces, { ...context, claims: byResponse, evidence });
  requireScopedFetch(flow, attribution, context);
  const { trajectories } = attribution;
  const built = buildTrajectories(trajectories, reports, context, marksOf(input, flow));
  return {
    kind: "returned",
    result,
    trajectories: built,
    terminationReason: result.terminationReason ?? endingOf(built),
    metrics: {
      "time/flow_s": seconds,
      ...result.metrics,
      ...captureMetrics(attribution, failedCalls),
    },
    failedCalls,
  };
}

async function runProgram<Metadata>(
  { program, task }: AttemptInput<Metadata>,
  { config, scopes }: FlowConfig,
  deadline: Deadline,
): Promise<FlowResult> {
  // An async function, so that an error of a synchronous program is a rejection, too.
  const run = async (): Promise<FlowResult> =>
    await observeScopes(scopes, () => program.run(task, config));
  try {
    return await raceUserCode(run, deadline);
  } catch (error) {
    const ending = deadline.signal.aborted ? null : endedBy(error);
    if (ending === null) throw error;
    return { reports: [], output: undefined, ...ending };
  }
}

/** `withTrajectory` has no effect on calls of a client that was not given `config.fetch`. */
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
    message: `withTrajectory("${name}", ...) was used, but no call came through config.fetch, so its calls cannot be attributed to it.`,
    hint: "Create the client with fetch: config.fetch, or with config.trajectory(name).baseUrl.",
    fields: { name },
  });
}
