/** snake_case JSON of the gateway's own routes. */
import type { ChatMessage, ToolCall } from "../../core/message.ts";
import type { SamplingParams } from "../../core/policy.ts";
import { wireTool } from "../../core/tool-json.ts";
import type { Trace } from "../../core/trace.ts";
import type { CaptureSession } from "../session/session.ts";
import { defined } from "../../util/defined.ts";

export interface WireToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** OpenAI's shape of tool calls. */
export function toWireToolCalls(calls: readonly ToolCall[]): readonly WireToolCall[] {
  return calls.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
}

/** OpenAI's shape of a chat message, with `reasoning_content` as vLLM writes it. */
export function toWireMessage(message: ChatMessage): Readonly<Record<string, unknown>> {
  const { role, content, reasoning, toolCalls, toolCallId, name } = message;
  const parts =
    typeof content === "string"
      ? content
      : content.map((part) =>
          part.type === "text" ? part : { type: "image_url", image_url: { url: part.url } },
        );
  return {
    role,
    content: content === "" && toolCalls ? null : parts,
    ...defined({ reasoning_content: reasoning }),
    ...(toolCalls ? { tool_calls: toWireToolCalls(toolCalls) } : {}),
    ...defined({ tool_call_id: toolCallId, name }),
  };
}

function toWireSampling(sampling: SamplingParams): Readonly<Record<string, unknown>> {
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    min_p: sampling.minP,
    max_tokens: sampling.maxTokens,
    stop_token_ids: sampling.stopTokenIds,
    seed: sampling.seed,
  };
}

/** A trace as `GET /sessions/{uid}/traces` gives it. */
export function toWireTrace(trace: Trace): Readonly<Record<string, unknown>> {
  return {
    trace_id: trace.id,
    response_id: trace.responseId,
    session_id: trace.sessionUid,
    trajectory_id: trace.trajectoryUid,
    sequence: trace.sequence,
    choice: trace.choice,
    protocol: trace.protocol,
    model: trace.model,
    messages: trace.messages.map(toWireMessage),
    tools: trace.tools.map(wireTool),
    response_message: toWireMessage(trace.response),
    malformed: trace.malformed ?? null,
    unmet: trace.unmet ?? null,
    unenforced: trace.unenforced ?? null,
    needed_tokens: trace.neededTokens ?? null,
    prompt_token_ids: Array.from(trace.promptIds),
    completion_token_ids: Array.from(trace.responseIds),
    logprobs: Array.from(trace.logprobs),
    logprob_kind: trace.logprobKind,
    tempered_logprobs: trace.temperedLogprobs ? Array.from(trace.temperedLogprobs) : null,
    finish_reason: trace.stopReason,
    weight_version: trace.weightVersion,
    weight_changes:
      trace.weightChanges?.map(({ at, weightVersion }) => ({
        at,
        weight_version: weightVersion,
      })) ?? null,
    sampling_params: toWireSampling(trace.sampling),
    parent_trace_id: trace.parentId,
    untrainable: trace.untrainable ?? null,
    worker: trace.worker ?? null,
    server_fields: trace.serverFields ?? null,
    recall_from: trace.recallFrom ?? null,
    started_at: trace.startedAt,
    first_token_at: trace.firstTokenAt ?? null,
    finished_at: trace.finishedAt,
    // As rLLM's client reads them.
    latency_ms: trace.finishedAt - trace.startedAt,
    timestamp: trace.finishedAt / 1000,
    token_counts: { prompt: trace.promptIds.length, completion: trace.responseIds.length },
    metadata: {},
  };
}

/** A session as `GET /sessions` gives it. Its token is known only to whom it was given. */
export function toWireSession(session: CaptureSession): Readonly<Record<string, unknown>> {
  const { uid, createdAt, traceCount, callsInFlight, options } = session;
  const { temperature, topP, topK, minP, maxTokens } = options.sampling;
  return {
    session_id: uid,
    trace_count: traceCount,
    calls_in_flight: callsInFlight,
    created_at: createdAt / 1000,
    metadata: options.metadata ?? {},
    seed: options.seed,
    // JSON drops what is undefined.
    sampling_params: { temperature, top_p: topP, top_k: topK, min_p: minP, max_tokens: maxTokens },
  };
}
