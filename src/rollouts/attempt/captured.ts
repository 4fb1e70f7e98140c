/** The captured calls of an attempt, even if it failed partway. */
import type { RolloutSession, SessionOptions } from "../../core/session.ts";
import { type FailedCall, defaultTrajectoryName, type Trajectory } from "../../core/trajectory.ts";
import type { SideCallRule, SideCallUse } from "../../core/side-call.ts";
import { defined } from "../../util/defined.ts";
import { raceAbort } from "../../util/abort.ts";
import {
  attributeTraces,
  type Attribution,
  type AttributionContext,
} from "../attribution/attribution.ts";
import { startDeadline } from "../../core/deadline.ts";
import { buildTrajectories, type TrainingMarks } from "../attribution/build-trajectories.ts";
import type { FlowConfig } from "./flow-config.ts";
import { isToolError, messageText } from "../../core/message-text.ts";
import { isGarbled, isRepetitive } from "../../core/response-quality.ts";
import type { Trace } from "../../core/trace.ts";

export interface Captured {
  readonly trajectories: readonly Trajectory[];
  readonly metrics: Readonly<Record<string, number>>;
  readonly failedCalls: readonly FailedCall[];
}

export const nothingCaptured: Captured = { trajectories: [], metrics: {}, failedCalls: [] };

/** What is needed to attribute the calls of an attempt. */
interface Source {
  readonly program: { readonly name?: string; readonly sideCalls?: readonly SideCallRule[] };
  /** @see AttributionContext.sideCallUse */
  readonly sideCallUse?: SideCallUse;
  readonly untrainedRoles: readonly string[];
  readonly session: Pick<SessionOptions, "adapters">;
  /** @see AttributionContext.keepsUntrainable */
  readonly keepsUntrainable?: boolean;
  readonly signal: AbortSignal;
}

/** A host that waits for calls in flight may take longer; then nothing is kept. */
const salvageMs = 1_000;

/** What a failed attempt had done so far; nothing if that cannot be read. Never rejects. */
export async function salvage(
  source: Source,
  session: RolloutSession,
  flow: FlowConfig,
): Promise<Captured> {
  const deadline = startDeadline("Reading what was captured", salvageMs, source.signal);
  try {
    const reading = (async () => await (session.recorded?.() ?? session.traces()))();
    const traces = await raceAbort(reading, deadline.signal);
    const context = contextOf(source, session, flow);
    const attribution = attributeTraces(traces, context);
    const failedCalls = session.failedCalls?.() ?? [];
    if (attribution.calls === 0) return { ...nothingCaptured, failedCalls };
    const marks = marksOf(source, flow);
    return {
      trajectories: buildTrajectories(attribution.trajectories, [], context, marks),
      metrics: captureMetrics(attribution, failedCalls),
      failedCalls,
    };
  } catch {
    return nothingCaptured;
  } finally {
    deadline.dispose();
  }
}

export function contextOf(
  {
    program,
    keepsUntrainable = false,
    sideCallUse = "own",
  }: Pick<Source, "program" | "keepsUntrainable" | "sideCallUse">,
  session: Pick<RolloutSession, "uid">,
  { known }: Pick<FlowConfig, "known">,
): AttributionContext {
  return {
    sessionUid: session.uid,
    defaultName: program.name ?? defaultTrajectoryName,
    handles: new Map(Array.from(known, ([uid, { role }]) => [uid, role])),
    keepsUntrainable,
    sideCalls: program.sideCalls ?? [],
    sideCallUse,
  };
}

export function marksOf(
  { untrainedRoles, session: { adapters } }: Pick<Source, "untrainedRoles" | "session">,
  { known }: Pick<FlowConfig, "known">,
): TrainingMarks {
  const untrained = Array.from(known).flatMap(([uid, { train }]) => (train ? [] : uid));
  return { untrainedUids: new Set(untrained), untrainedRoles, ...defined({ adapters }) };
}

/** Metrics of the captured calls; tokens are those of the steps, as the server counted where it returned no ids. */
export function captureMetrics(
  attribution: Attribution,
  failedCalls: readonly FailedCall[],
): Record<string, number> {
  const traces = attribution.trajectories.flatMap((trajectory) => trajectory.traces);
  return {
    turns: attribution.calls,
    "tokens/prompt": traces.reduce(
      (sum, { promptIds, usage }) => sum + (usage?.promptTokens ?? promptIds.length),
      0,
    ),
    "tokens/response": traces.reduce(
      (sum, { responseIds, usage }) => sum + (usage?.completionTokens ?? responseIds.length),
      0,
    ),
    truncated: traces.some((trace) => trace.stopReason === "length") ? 1 : 0,
    "calls/failed": failedCalls.length,
    "calls/untrainable": attribution.untrainable,
    "calls/unattributed": attribution.unattributed,
    "calls/unused_choices": attribution.unusedChoices,
    "calls/undecided_choices": attribution.undecidedChoices,
    ...responseMetrics(traces),
  };
}

/** Results of tools that are new in the call: those at the end of its messages. */
function toolResults({ messages }: Trace): string[] {
  const results: string[] = [];
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i];
    if (message?.role !== "tool") break;
    results.push(messageText(message.content));
  }
  return results;
}

const flag = (value: boolean): number => (value ? 1 : 0);

/** @returns metrics of an episode; `weight_version` only where the gateway knows it. */
function responseMetrics(traces: readonly Trace[]): Record<string, number> {
  const texts = traces.map(
    ({ response }) => `${response.reasoning ?? ""}${messageText(response.content)}`,
  );
  const isEmpty = ({ response }: Trace, i: number): boolean =>
    (texts[i] ?? "").trim() === "" && (response.toolCalls ?? []).length === 0;
  const results = traces.flatMap(toolResults);
  const versions = traces.flatMap(({ weightVersion }) =>
    weightVersion === null ? [] : [weightVersion],
  );
  return {
    "text/empty": flag(traces.some(isEmpty)),
    "text/garbled": flag(texts.some(isGarbled)),
    "text/repeated": flag(texts.some(isRepetitive)),
    "tools/results": results.length,
    "tools/errors": results.filter(isToolError).length,
    "calls/malformed": traces.filter(({ malformed }) => malformed !== undefined).length,
    ...(versions.length === 0
      ? {}
      : { weight_version: versions.reduce((sum, version) => sum + version, 0) / versions.length }),
  };
}
