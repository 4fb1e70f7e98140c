/** Sampled tokens to the assistant message that the client gets. */
import { createHash } from "node:crypto";
import type { ChatMessage, ToolCall } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import { cutAtStop } from "./text-reader.ts";

export interface ReadMessage {
  readonly message: ChatMessage;
  readonly malformed?: string;
}

export interface ReadMessageOptions {
  readonly toolsOffered: boolean;
  /** All of it is content, whatever it looks like. */
  readonly raw: boolean;
  /** Stop strings to cut at; empty when none was met. */
  readonly stops: readonly string[];
  /** What ids of tool calls are derived from; unique for this choice in its session. */
  readonly key: string;
}

/** Not random: a template may render the id, and then it decides what the next prompt is. */
export function toolCallId(key: string, index: number): string {
  return `call_${createHash("sha1").update(`${key}:${index}`).digest("hex").slice(0, 24)}`;
}

export function readMessage(
  renderer: Renderer,
  tokens: Int32Array,
  options: ReadMessageOptions,
): ReadMessage {
  const { toolsOffered, raw, stops, key } = options;
  if (raw) {
    return { message: { role: "assistant", content: cutAtStop(renderer.decode(tokens), stops) } };
  }
  const parsed = renderer.parse(tokens);
  if (!toolsOffered && parsed.toolCalls.length > 0) {
    // A client that offered no tools is not prepared for calls, so it gets the text as it is.
    return { message: { role: "assistant", content: cutAtStop(renderer.decode(tokens), stops) } };
  }
  const toolCalls = parsed.toolCalls.map((call, i): ToolCall => ({
    id: toolCallId(key, i),
    ...call,
  }));
  return {
    message: {
      role: "assistant",
      content: cutAtStop(parsed.content, stops),
      ...(parsed.reasoning === undefined ? {} : { reasoning: cutAtStop(parsed.reasoning, stops) }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    },
    ...defined({ malformed: parsed.malformed }),
  };
}
