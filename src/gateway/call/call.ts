/**
 * One model call from request to recorded traces. Resolves only after its traces are stored; what it
 * throws was not recorded. Knows no wire format.
 */
import { randomUUID } from "node:crypto";
import { AgentTrainerError } from "../../core/errors.ts";
import type { CallResult, CallRequest, Completion } from "./call-request.ts";
import type { FinishedChoice, Target, TargetCall, TargetResponse } from "../targets/target.ts";
import type { Renderer } from "../../core/policy.ts";
import type { Trace } from "../../core/trace.ts";
import { defined } from "../../util/defined.ts";
import { joinTokens } from "../../util/token-prefix.ts";
import type { CaptureSession } from "../session/session.ts";

/** What all choices of a call have in common. */
interface RecordedCall extends Omit<TargetResponse, "completions" | "untrainable"> {
  readonly target: { readonly renderer: Renderer };
  readonly request: CallRequest;
  readonly trajectoryUid: string | null;
  readonly responseId: string;
  readonly sequence: number;
  readonly startedAt: number;
  /** `startedAt` by `performance.now()`, which does not jump. */
  readonly startedMark: number;
  /** @see Trace.unenforced */
  readonly unenforced?: readonly string[];
}

/** Stores one trace per choice. `untrainable` says why they must not be trained on, if so. */
async function recordCall(
  session: CaptureSession,
  call: RecordedCall,
  completions: readonly Completion[],
  untrainable?: string,
): Promise<void> {
  const { request, prepared, trajectoryUid, responseId, sequence, startedAt } = call;
  const { worker, adapter, firstTokenMark, usage } = call;
  const timeOf = (mark: number): number => startedAt + Math.round(mark - call.startedMark);
  const finishedAt = timeOf(performance.now());
  const tokens = completions.map((each) => joinTokens(prepared.tokens, each.tokens));
  const traces = completions.map((completion, i): Trace => {
    const own = tokens[i] as Int32Array;
    return {
      id: randomUUID(),
      responseId,
      sessionUid: session.uid,
      trajectoryUid,
      sequence,
      choice: completion.choice,
      protocol: request.protocol,
      model: request.model,
      messages: request.messages,
      tools: request.tools,
      response: completion.message,
      ...defined({ malformed: completion.malformed, unmet: completion.unmet }),
      ...defined({ unenforced: call.unenforced, neededTokens: completion.neededTokens }),
      // Views, so that the trace and the conversation share one copy of the ids.
      promptIds: own.subarray(0, prepared.tokens.length),
      responseIds: own.subarray(prepared.tokens.length),
      // A copy: after a stop string the sampler's array may be longer, or be reused.
      logprobs: completion.logprobs.slice(0, completion.tokens.length),
      logprobKind: call.logprobKind,
      ...(completion.temperedLogprobs === undefined
        ? {}
        : { temperedLogprobs: completion.temperedLogprobs.slice(0, completion.tokens.length) }),
      stopReason: completion.stopReason,
      weightVersion: call.isVersionUnknown === true ? null : completion.weightVersion,
      ...(completion.weightChanges ? { weightChanges: completion.weightChanges } : {}),
      sampling: prepared.sampling,
      parentId: prepared.parentId,
      // Where ids are known, their number is.
      ...(usage && i === 0 && own.length === 0 ? { usage } : {}),
      ...defined({ untrainable, worker, adapter }),
      ...(request.serverFields ? { serverFields: request.serverFields } : {}),
      ...defined({ recallFrom: request.recallFrom }),
      startedAt,
      ...(firstTokenMark === undefined ? {} : { firstTokenAt: timeOf(firstTokenMark) }),
      finishedAt,
    };
  });
  await session.record(traces);
  if (untrainable !== undefined) return;
  for (const [i, trace] of traces.entries()) {
    const all = tokens[i] as Int32Array;
    if (request.rawPrompt !== undefined) {
      const { rawPrompt } = request;
      const { renderer } = call.target;
      session.rawPrompts.add(trace.id, rawPrompt, all, trace.responseIds, renderer);
    } else {
      const node = { traceId: trace.id, trajectoryUid, response: trace.response, tokens: all };
      session.conversation.add(prepared.chain, node);
    }
  }
}

export type { FinishedChoice } from "../targets/target.ts";

export interface CallContext extends TargetCall {
  readonly target: Target;
  readonly responseId: string;
  /** @see Trace.unenforced */
  readonly unenforced?: readonly string[];
}

export interface FinishedCall extends CallResult {
  readonly completions: readonly FinishedChoice[];
}

/** `prefix` is what clients of a protocol know its ids by. */
export function createResponseId(prefix: string): string {
  return `${prefix}${randomUUID().replaceAll("-", "")}`;
}

/** @throws what rendering, the target or the store throws, and the abort's error. */
export async function runCall(context: CallContext): Promise<FinishedCall> {
  const { target, session, abort, responseId } = context;
  if (abort.cause !== null) throw abort.error();
  const sequence = session.takeSequence();
  const startedAt = Date.now();
  const startedMark = performance.now();
  const { completions, untrainable, usage, ...responded } = await target.run(context);
  if (abort.cause === "deadline" || abort.cause === "closed") throw abort.error();

  const clientGone = abort.cause === "client";
  if (!clientGone && completions.some((completion) => completion.stopReason === "aborted")) {
    throw new AgentTrainerError({
      code: "ABORTED",
      message: "The sampler aborted the model call on its own.",
      hint: "It is probably shutting down.",
    });
  }
  await recordCall(
    session,
    { ...context, ...responded, ...(usage ? { usage } : {}), sequence, startedAt, startedMark },
    completions,
    clientGone ? "client disconnected" : untrainable,
  );
  if (clientGone) throw abort.error();
  return {
    responseId,
    promptTokens: usage?.promptTokens ?? responded.prepared.tokens.length,
    completions,
    ...(usage ? { usage } : {}),
  };
}
