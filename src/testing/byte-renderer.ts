/**
 * A ChatML-like renderer whose tokens are the bytes of UTF-8 and a few special ids. Tool calls are
 * written as Hermes does: `<tool_call>{"name": ..., "arguments": ...}</tool_call>`.
 */
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

function readCalls(text: string): ParsedCompletion {
  const toolCalls: Call[] = [];
  let content = "";
  let at = 0;
  for (;;) {
    const start = text.indexOf(opening, at);
    if (start === -1) break;
    const end = text.indexOf(closing, start);
    const inner = text.slice(start + opening.length, end === -1 ? undefined : end);
    const call = end === -1 ? null : readCall(inner);
    if (!call) {
      const why = end === -1 ? "is not closed" : "is not a JSON object with name and arguments";
      return { content: text.trim(), toolCalls: [], malformed: `A tool call ${why}.` };
    }
    content += text.slice(at, start);
    toolCalls.push(call);
    at = end + closing.length;
  }
  if (toolCalls.length === 0) return { content: text, toolCalls };
  return { content: (content + text.slice(at)).trim(), toolCalls };
}

/** Text of one completion, read as a message. */
function parseBytesText(text: string): ParsedCompletion {
  if (!text.startsWith("<think>")) return readCalls(text);
  const end = text.indexOf("</think>");
  if (end === -1) return { content: "", reasoning: text.slice(7), toolCalls: [] };
  return { ...readCalls(text.slice(end + 8)), reasoning: text.slice(7, end) };
}

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
      const ending = previous.at(-1) === turnEnd ? [] : [turnEnd];
      const added = writeMessages([...ending, ...encoder.encode("\n")], newMessages);
      return { tokens: joinTokens(previous, added) };
    },
    parse: (tokens) => parseBytesText(decode(tokens)),
    encode: (text) => Int32Array.from(encoder.encode(text)),
    decode,
  };
}
