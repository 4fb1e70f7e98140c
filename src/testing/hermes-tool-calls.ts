/** Reasoning and Hermes tool calls in generated text. Never throws. */
import type { ParsedCompletion } from "../core/policy.ts";

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
export function parseBytesText(text: string): ParsedCompletion {
  if (!text.startsWith("<think>")) return readCalls(text);
  const end = text.indexOf("</think>");
  if (end === -1) return { content: "", reasoning: text.slice(7), toolCalls: [] };
  return { ...readCalls(text.slice(end + 8)), reasoning: text.slice(7, end) };
}
