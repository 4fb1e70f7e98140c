/**
 * A ChatML-like renderer whose tokens are the bytes of UTF-8 and a few special ids. Tool calls are
 * written as Hermes does: `<tool_call>{"name": ..., "arguments": ...}</tool_call>`.
 */
import type { ChatMessage, ToolDefinition } from "../core/message.ts";
import { messageText } from "../core/message-text.ts";
import type { Renderer } from "../core/policy.ts";
import { parseBytesText } from "./hermes-tool-calls.ts";

/** Special ids of the byte renderer; ids below 256 are bytes. */
export const byteTokens = { turnStart: 256, turnEnd: 257 } as const;

const encoder = new TextEncoder();
const { turnStart, turnEnd } = byteTokens;

function bodyOf(message: ChatMessage): string {
  const reasoning = message.reasoning === undefined ? "" : `<think>${message.reasoning}</think>`;
  const calls = (message.toolCalls ?? []).map(
    (call) =>
      `<tool_call>{"name": ${JSON.stringify(call.name)}, "arguments": ${call.arguments}}</tool_call>`,
  );
  return (
    reasoning +
    [messageText(message.content, { image: "refuse" }), ...calls]
      .filter((text) => text !== "")
      .join("\n")
  );
}

function writeTurn(tokens: number[], role: string, body: string): void {
  tokens.push(turnStart, ...encoder.encode(`${role}\n`));
  for (const byte of encoder.encode(body)) tokens.push(byte);
  tokens.push(turnEnd, ...encoder.encode("\n"));
}

function writeMessages(tokens: number[], messages: readonly ChatMessage[]): Int32Array {
  for (const message of messages) writeTurn(tokens, message.role, bodyOf(message));
  tokens.push(turnStart, ...encoder.encode("assistant\n"));
  return Int32Array.from(tokens);
}

function writeTools(tokens: number[], tools: readonly ToolDefinition[] = []): void {
  if (tools.length > 0) writeTurn(tokens, "tools", JSON.stringify(tools));
}

function decode(tokens: Int32Array): string {
  const bytes = Uint8Array.from(tokens.filter((id) => id < 256));
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** See the head of this file. Reads `<think>...</think>` at the start as reasoning. */
export function createByteRenderer(): Renderer {
  return {
    family: "bytes",
    stop: { tokenIds: [turnEnd], strings: [] },
    render(messages, options) {
      const tokens: number[] = [];
      writeTools(tokens, options?.tools);
      return { tokens: writeMessages(tokens, messages) };
    },
    extend(previous, newMessages) {
      // A turn that was cut short still has to be closed.
      const closing = previous.at(-1) === turnEnd ? [] : [turnEnd];
      const added = writeMessages([...closing, ...encoder.encode("\n")], newMessages);
      const tokens = new Int32Array(previous.length + added.length);
      tokens.set(previous);
      tokens.set(added, previous.length);
      return { tokens };
    },
    parse: (tokens) => parseBytesText(decode(tokens)),
    encode: (text) => Int32Array.from(encoder.encode(text)),
    decode,
  };
}
