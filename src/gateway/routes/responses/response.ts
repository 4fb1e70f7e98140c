/** A finished call in the shape of OpenAI's Responses API. */
import type { ToolCall } from "../../../core/message.ts";
import type { Renderer } from "../../../core/policy.ts";
import { usageOf, type CallResult, type Completion } from "../../call/call-request.ts";
import { asWritten } from "../../http/json-source.ts";
import type { JsonFields } from "../../../util/json-object.ts";
import { messageText } from "../../../core/message-text.ts";
import { toWireLogprobs } from "../chat/response.ts";
import { itemId } from "./item-ids.ts";

export type Wire = Readonly<Record<string, unknown>>;

export interface ResponsesOptions {
  readonly responseId: string;
  readonly model: string;
  readonly renderer: Renderer;
  readonly logprobs: boolean;
  /** The request, whose settings the response repeats. */
  readonly body: JsonFields;
}

type Status = "in_progress" | "completed" | "incomplete";

export function reasoningItem(id: string, text: string | null, status: Status): Wire {
  const content = text === null ? [] : [{ type: "reasoning_text", text }];
  return { id, type: "reasoning", summary: [], content, status };
}

export function outputText(text: string, logprobs: unknown = []): Wire {
  return { type: "output_text", text, annotations: [], logprobs };
}

/** `part` is null while nothing has been said. */
export function messageItem(id: string, part: Wire | null, status: Status): Wire {
  return { id, type: "message", role: "assistant", status, content: part ? [part] : [] };
}

export function callItem(id: string, call: ToolCall, status: Status): Wire {
  const { name, arguments: text } = call;
  return { id, type: "function_call", call_id: call.id, name, arguments: text, status };
}

/** Why a response is incomplete; null for one that is complete. */
const incompleteReason = ({ isFiltered, stopReason }: Completion): string | null =>
  isFiltered === true ? "content_filter" : stopReason === "length" ? "max_output_tokens" : null;

export function completionStatus(completion: Completion): "completed" | "incomplete" {
  return incompleteReason(completion) === null ? "completed" : "incomplete";
}

export function completionLogprobs(completion: Completion, options: ResponsesOptions): unknown {
  return options.logprobs ? toWireLogprobs(completion, options.renderer).content : [];
}

/** Everything the model put out, in order: thinking, text, calls. */
function toOutput(completion: Completion, options: ResponsesOptions): readonly Wire[] {
  const { responseId } = options;
  const { reasoning = "", toolCalls = [], content } = completion.message;
  const text = messageText(content, { image: "url" });
  const status = completionStatus(completion);
  const items: Wire[] = [];
  if (reasoning !== "") {
    items.push(reasoningItem(itemId({ kind: "rs", responseId, index: 0 }), reasoning, status));
  }
  // A response without any item would leave clients nothing to read.
  if (text !== "" || toolCalls.length === 0) {
    const part = outputText(text, completionLogprobs(completion, options));
    items.push(messageItem(itemId({ kind: "msg", responseId, index: 0 }), part, status));
  }
  for (const [index, call] of toolCalls.entries()) {
    items.push(callItem(itemId({ kind: "fc", responseId, index }), call, "completed"));
  }
  return items;
}

function toUsage(result: CallResult): Wire {
  const { promptTokens, completionTokens, cachedTokens = 0, reasoningTokens = 0 } = usageOf(result);
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
  };
}

function conversationOf(requested: unknown): Wire {
  if (requested === undefined || requested === null) return {};
  return { conversation: typeof requested === "string" ? { id: requested } : requested };
}

/** A response before anything was sampled; `createdAt` in seconds. */
export function toResponseHead(options: ResponsesOptions, createdAt: number): Wire {
  const { body, responseId, model } = options;
  return {
    id: responseId,
    object: "response",
    created_at: createdAt,
    ...conversationOf(body.conversation),
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: body.reasoning ?? { effort: null, summary: null },
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: asWritten(body.text) ?? { format: { type: "text" } },
    tool_choice: body.tool_choice ?? "auto",
    tools: asWritten(body.tools) ?? [],
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    usage: null,
    user: body.user ?? null,
  };
}

export function toResponse(
  result: CallResult,
  options: ResponsesOptions,
  createdAt: number = Math.floor(Date.now() / 1000),
): Wire {
  const [completion] = result.completions as readonly [Completion];
  const reason = incompleteReason(completion);
  return {
    ...toResponseHead(options, createdAt),
    status: completionStatus(completion),
    incomplete_details: reason === null ? null : { reason },
    output: toOutput(completion, options),
    usage: toUsage(result),
  };
}
