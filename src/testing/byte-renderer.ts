/**
 * A ChatML-like renderer whose tokens are the bytes of UTF-8 and a few special ids. Tool calls are
 * written as Hermes does: `<tool_call>{"name": ..., "arguments": ...}</tool_call>`.
 */
import { createCompletionReader, readWhole, type CallSyntax } from "../core/completion-reader.ts";
import { joinTokens } from "../util/token-prefix.ts";
import type { ChatMessage, ToolDefinition } from "../core/message.ts";
import { messageText } from "../core/message-text.ts";
import type { Renderer, ParsedCompletion } from "../core/policy.ts";

type Call = ParsedCompletion["toolCalls"][number];

const opening = "<tool_call>";
const closing = "</tool_call>";

function readCall(text: string): Call | null {
  try {
    const value = JSON.parse(text) as { name?: unknown; arguments?: unknown } | null;
    if (typeof value?.name !== "string" || value.arguments === undefined) return null;
    return { name: value.name, arguments: JSON.stringify(value.arguments) };
  } catch {
    return null;
  }
}

const callSyntax: CallSyntax = {
  marks: [opening, closing],
  find(text, from) {
    const at = text.find(opening, from);
    return { at: at === -1 ? text.certainWithout(opening) : at, isFound: at !== -1 };
  },
  open: (text, at) => () => {
    const end = text.find(closing, at);
    if (end === -1) {
      const malformed = "A tool call is not closed.";
      return text.isWhole ? { end: text.length, calls: [], malformed } : null;
    }
    const call = readCall(text.slice(at + opening.length, end));
    const after = end + closing.length;
    if (call !== null) return { end: after, calls: [call] };
    const malformed = "A tool call is not a JSON object with name and arguments.";
    return { end: after, calls: [], malformed };
  },
};

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

const reasoning = { start: "<think>", end: "</think>" };

const reader: Renderer["reader"] = (options) =>
  createCompletionReader({ decode, calls: callSyntax, reasoning }, options);

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
      const ending = previous.at(-1) === turnEnd ? [] : [turnEnd];
      const added = writeMessages([...ending, ...encoder.encode("\n")], newMessages);
      return { tokens: joinTokens(previous, added) };
    },
    parse: (tokens, options) => readWhole(reader(options), tokens),
    reader,
    encode: (text) => Int32Array.from(encoder.encode(text)),
    decode,
  };
}
