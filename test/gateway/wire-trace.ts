/** The gateway's JSON of a trace back to a trace: the inverse of `toWireTrace`. */
import type { ChatMessage, ContentPart, ToolCall, ToolDefinition } from "../../src/core/message.ts";
import type { SamplingParams, WeightChange } from "../../src/core/policy.ts";
import type { Trace } from "../../src/core/trace.ts";
import type { WireToolCall } from "../../src/gateway/http/wire.ts";

type Wire = Readonly<Record<string, unknown>>;

function readPart(part: Wire): ContentPart {
  if (part["type"] === "text") return { type: "text", text: part["text"] as string };
  return { type: "image", url: (part["image_url"] as { url: string }).url };
}

function readToolCall({ id, function: called }: WireToolCall): ToolCall {
  return { id, name: called.name, arguments: called.arguments };
}

function readMessage(wire: Wire): ChatMessage {
  const { role, content, reasoning_content, tool_calls, tool_call_id, name } = wire;
  return {
    role: role as ChatMessage["role"],
    content: Array.isArray(content) ? content.map(readPart) : ((content ?? "") as string),
    ...(reasoning_content === undefined ? {} : { reasoning: reasoning_content as string }),
    ...(tool_calls === undefined
      ? {}
      : { toolCalls: (tool_calls as WireToolCall[]).map(readToolCall) }),
    ...(tool_call_id === undefined ? {} : { toolCallId: tool_call_id as string }),
    ...(name === undefined ? {} : { name: name as string }),
  };
}

function readSampling(wire: Wire): SamplingParams {
  return {
    temperature: wire["temperature"],
    topP: wire["top_p"],
    topK: wire["top_k"],
    minP: wire["min_p"],
    maxTokens: wire["max_tokens"],
    stopTokenIds: wire["stop_token_ids"],
    seed: wire["seed"],
  } as SamplingParams;
}

function readChange(wire: Wire): WeightChange {
  return { at: wire["at"], weightVersion: wire["weight_version"] } as WeightChange;
}

/** JSON knows no infinity; a token that cannot be sampled has nothing else. */
function readLogprobs(wire: readonly (number | null)[]): Float32Array {
  return Float32Array.from(wire, (p) => p ?? -Infinity);
}

/** What `toWireTrace` wrote. */
export function fromWireTrace(wire: Wire): Trace {
  const { malformed, untrainable, worker } = wire;
  const { server_fields: serverFields, first_token_at: firstTokenAt } = wire;
  const { recall_from: recallFrom, weight_changes: weightChanges } = wire;
  // Of a gateway from before there were any, too.
  const temperedLogprobs = (wire["tempered_logprobs"] ?? null) as (number | null)[] | null;
  return {
    id: wire["trace_id"],
    responseId: wire["response_id"],
    sessionUid: wire["session_id"],
    trajectoryUid: wire["trajectory_id"],
    sequence: wire["sequence"],
    choice: wire["choice"],
    protocol: wire["protocol"],
    model: wire["model"],
    messages: (wire["messages"] as Wire[]).map(readMessage),
    tools: (wire["tools"] as { function: ToolDefinition }[]).map((tool) => tool.function),
    response: readMessage(wire["response_message"] as Wire),
    promptIds: Int32Array.from(wire["prompt_token_ids"] as number[]),
    responseIds: Int32Array.from(wire["completion_token_ids"] as number[]),
    logprobs: readLogprobs(wire["logprobs"] as (number | null)[]),
    logprobKind: wire["logprob_kind"],
    stopReason: wire["finish_reason"],
    weightVersion: wire["weight_version"],
    sampling: readSampling(wire["sampling_params"] as Wire),
    parentId: wire["parent_trace_id"],
    startedAt: wire["started_at"],
    finishedAt: wire["finished_at"],
    ...(weightChanges === null ? {} : { weightChanges: (weightChanges as Wire[]).map(readChange) }),
    ...(temperedLogprobs === null ? {} : { temperedLogprobs: readLogprobs(temperedLogprobs) }),
    ...(malformed === null ? {} : { malformed }),
    ...(untrainable === null ? {} : { untrainable }),
    ...(worker === null ? {} : { worker }),
    ...(serverFields === null ? {} : { serverFields }),
    ...(recallFrom === null ? {} : { recallFrom }),
    ...(firstTokenAt === null ? {} : { firstTokenAt }),
  } as unknown as Trace;
}
