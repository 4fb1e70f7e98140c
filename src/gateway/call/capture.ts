/** Finished choices to stored traces, and to what later calls can continue. */
import { randomUUID } from "node:crypto";
import type { Renderer } from "../../core/policy.ts";
import type { Trace } from "../../core/trace.ts";
import { defined } from "../../util/defined.ts";
import type { CallRequest, CallUsage, Completion } from "./call-request.ts";
import type { PreparedCall } from "./prompt.ts";
import type { CaptureSession } from "../session/session.ts";

/** What all choices of a call have in common. */
export interface RecordedCall {
  readonly target: { readonly renderer: Renderer };
  readonly request: CallRequest;
  readonly prepared: PreparedCall;
  readonly trajectoryUid: string | null;
  readonly responseId: string;
  readonly sequence: number;
  readonly startedAt: number;
  /** `startedAt` by `performance.now()`, which does not jump. */
  readonly startedMark: number;
  readonly logprobKind: Trace["logprobKind"];
  readonly worker?: string;
  /** @see Trace.adapter */
  readonly adapter?: string | null;
  /** The version of the weights is not known. */
  readonly isVersionUnknown?: true;
  /** By `performance.now()`. */
  readonly firstTokenMark?: number;
  /** As the server counted. */
  readonly usage?: CallUsage;
  /** @see Trace.unenforced */
  readonly unenforced?: readonly string[];
}

function joinTokens(prompt: Int32Array, response: Int32Array): Int32Array {
  const all = new Int32Array(prompt.length + response.length);
  all.set(prompt);
  all.set(response, prompt.length);
  return all;
}

/** Stores one trace per choice. `untrainable` says why they must not be trained on, if so. */
export async function recordCall(
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
      ...defined({ unenforced: call.unenforced }),
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
