/** Calls as a JSON list of `{"name": ..., "arguments": {...}}` after a token: Phi-4-mini's and Mistral's. */
import type { Grammar } from "../../../core/grammar.ts";
import type { ParsedCompletion } from "../../../core/policy.ts";
import { jsonEnd, objectFields, spacedJson } from "../json-text.ts";
import { argumentsGrammar, type ToolFormat } from "./tool-format.ts";

/** One call; arguments that are not JSON are written unchanged. */
export function writeJsonCall(name: string, argumentsText: string): string {
  return `{"name": ${JSON.stringify(name)}, "arguments": ${spacedJson(argumentsText) ?? argumentsText}}`;
}

/** The grammar of a list of calls in a frame. */
export function callsInList({
  start,
  wrap,
}: {
  readonly start: string;
  readonly wrap: (calls: Grammar) => readonly Grammar[];
}): NonNullable<ToolFormat["grammar"]> {
  return {
    call: (tool, isStrict) => ({
      type: "sequence",
      parts: [
        { type: "literal", text: `{"name": ${JSON.stringify(tool.name)}, "arguments": ` },
        argumentsGrammar(tool, isStrict),
        { type: "literal", text: "}" },
      ],
    }),
    separator: ", ",
    start,
    wrap: (calls) => ({ type: "sequence", parts: wrap(calls) }),
  };
}

/** The elements of a JSON list, each as it is written; null when it is none. */
function elements(list: string): readonly string[] | null {
  const found: string[] = [];
  let at = 1;
  for (;;) {
    at += /^[\s,]*/.exec(list.slice(at))![0].length;
    if (list[at] === "]") return found;
    const end = list[at] === "{" ? jsonEnd(list, at) : -1;
    if (end === -1) return null;
    found.push(list.slice(at, end));
    at = end;
  }
}

/** What follows `start`; `end` after it is dropped. Never throws; what cannot be read stays content. */
export function parseJsonCalls(text: string, start: string, end: string): ParsedCompletion {
  const at = text.indexOf(start);
  if (at === -1) return { content: text, toolCalls: [] };
  const after = text.slice(at + start.length).trimStart();
  const asContent = (malformed: string): ParsedCompletion => ({
    content: text,
    toolCalls: [],
    malformed,
  });
  const close = after.startsWith("[") ? jsonEnd(after, 0) : -1;
  if (close === -1) return asContent("a list of tool calls is not closed");
  const list = elements(after.slice(0, close));
  if (list === null) return asContent("tool calls are not a list of JSON objects");
  const toolCalls: { name: string; arguments: string }[] = [];
  for (const element of list) {
    const fields = objectFields(element);
    if (fields === null) return asContent("a tool call is not JSON");
    const name: unknown = JSON.parse(fields.get("name") ?? "null");
    if (typeof name !== "string") return asContent('a tool call has no "name"');
    const given = fields.get("arguments") ?? "{}";
    toolCalls.push({
      name,
      arguments: given.startsWith('"') ? (JSON.parse(given) as string) : given,
    });
  }
  if (toolCalls.length === 0) return asContent("a list of tool calls is empty");
  const rest = after.slice(close).trimStart();
  const left = end !== "" && rest.startsWith(end) ? rest.slice(end.length) : rest;
  return { content: `${text.slice(0, at)}${left}`.trim(), toolCalls };
}
