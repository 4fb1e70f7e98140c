/** A finished call in Anthropic's shape of a message. */
import type { ToolCall } from "../../../core/message.ts";
import {
  usageOf,
  type CallResult,
  type CallUsage,
  type Completion,
} from "../../call/call-request.ts";
import { isTooDeep } from "../../http/json-fields.ts";
import { isJsonObject } from "../../../util/json-object.ts";
import { RawJson } from "../../../util/raw-json.ts";
import { messageText } from "../../../core/message-text.ts";

type Wire = Readonly<Record<string, unknown>>;

/** Clients give thinking back only where it is signed. */
export const signature = "unsigned";

/** This protocol knows objects only; whatever else a model wrote is wrapped. */
export function inputText(call: ToolCall): string {
  try {
    if (call.arguments.trim() === "") return "{}";
    const value: unknown = JSON.parse(call.arguments);
    if (value === null) return "{}";
    // What is too deep to be written again is handed over as text.
    if (isJsonObject(value) && !isTooDeep(value)) return call.arguments;
  } catch {
    // Not JSON: wrapped as well.
  }
  return JSON.stringify({ raw: call.arguments });
}

export function stopFields(completion: Completion): Wire {
  const { stopReason, stopString, message, isFiltered = false } = completion;
  const reason = isFiltered
    ? "refusal"
    : stopReason === "length"
      ? "max_tokens"
      : message.toolCalls
        ? "tool_use"
        : stopString === undefined
          ? "end_turn"
          : "stop_sequence";
  return {
    stop_reason: reason,
    stop_sequence: reason === "stop_sequence" ? stopString : null,
  };
}

/** Here the tokens from a cache are not among the input's. */
export function toWireUsage({ promptTokens, completionTokens, cachedTokens = 0 }: CallUsage): Wire {
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
  };
}

/** The head of a response, before anything of it is known. */
export function toWireMessageHead(responseId: string, model: string): Wire {
  return {
    id: responseId,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function toBlocks({ message }: Completion): readonly Wire[] {
  const { reasoning = "", toolCalls = [] } = message;
  const text = messageText(message.content, { image: "url" });
  return [
    ...(reasoning === "" ? [] : [{ type: "thinking", thinking: reasoning, signature }]),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...toolCalls.map((call) => {
      const { id, name } = call;
      return { type: "tool_use", id, name, input: new RawJson(inputText(call)) };
    }),
  ];
}

export function toWireResponse(result: CallResult, model: string): Wire {
  const [completion] = result.completions as readonly [Completion];
  return {
    ...toWireMessageHead(result.responseId, model),
    content: toBlocks(completion),
    ...stopFields(completion),
    usage: toWireUsage(usageOf(result)),
  };
}
