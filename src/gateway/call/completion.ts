/** Sampled tokens to the assistant message that the client gets. */
import { createHash } from "node:crypto";
import type { ChatMessage, ToolCall } from "../../core/message.ts";
import type { ParsedCompletion } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";

/** Not random: a template may render the id, and then it decides what the next prompt is. */
export function toolCallId(key: string, index: number): string {
  return `call_${createHash("sha1").update(`${key}:${index}`).digest("hex").slice(0, 24)}`;
}

/** @param key what ids of tool calls are derived from; unique for this choice in its session */
export function messageOf(
  { content, reasoning, toolCalls }: ParsedCompletion,
  key: string,
): ChatMessage {
  const calls = toolCalls.map((call, i): ToolCall => ({ id: toolCallId(key, i), ...call }));
  return {
    role: "assistant",
    content,
    ...defined({ reasoning }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  };
}
