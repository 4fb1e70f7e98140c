/** Calls as a JSON list of `{"name": ..., "arguments": {...}}` after a token: Phi-4-mini's and Mistral's. */
import type { CallSyntax, FoundCalls } from "../../../core/completion-reader.ts";
import type { Grammar } from "../../../core/grammar.ts";
import { tryParseExact } from "../../../util/exact-json.ts";
import { JsonScan, readJsonCall } from "./json-call.ts";
import { findCalls } from "./tagged-calls.ts";
import { argumentsGrammar, type ToolFormat } from "./tool-format.ts";

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

/** The calls of a list, or why it has none. */
function readList(list: string): FoundCalls["calls"] | string {
  const items = tryParseExact(list);
  if (items === undefined) return "a list of tool calls is not JSON";
  if (!Array.isArray(items) || !items.every((item) => item instanceof Map))
    return "tool calls are not a list of JSON objects";
  const calls = items.map(readJsonCall);
  const problem = calls.find((call) => typeof call === "string");
  if (problem !== undefined) return problem;
  if (calls.length === 0) return "a list of tool calls is empty";
  return calls.filter((call) => typeof call !== "string");
}

/** What follows `start`; `end` after it is dropped. */
export function listedCalls(start: string, end: string): CallSyntax {
  return {
    marks: end === "" ? [start] : [start, end],
    find: (text, from) => findCalls(text, from, start, "["),
    open(marked, at) {
      const from = at + start.length;
      return () => {
        if (!marked.isWhole) return null;
        const text = marked.slice(from);
        const close = new JsonScan().endIn(text);
        const malformed = (why: string): FoundCalls => ({
          end: marked.length,
          calls: [],
          malformed: why,
        });
        const list = close === -1 ? "" : text.slice(0, close).trimStart();
        if (!list.startsWith("[")) return malformed("a list of tool calls is not closed");
        const calls = readList(list);
        if (typeof calls === "string") return malformed(calls);
        const after = marked.length - text.slice(close).trimStart().length;
        const isEnded = end !== "" && marked.find(end, after) === after;
        return { end: isEnded ? after + end.length : from + close, calls };
      };
    },
  };
}
