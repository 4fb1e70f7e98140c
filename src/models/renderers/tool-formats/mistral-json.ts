/** Tools and calls as Mistral's third format has them: lists of JSON after tokens. */
import type { ToolDefinition } from "../../../core/message.ts";
import { toolJson } from "../../../core/tool-json.ts";
import { pythonJson, writeExact } from "../../../util/exact-json.ts";
import { markup, plain, type Part } from "../token-builder.ts";
import { callsInList, listedCalls } from "./json-calls.ts";
import type { ToolFormat } from "./tool-format.ts";

export const mistralCallStart = "[TOOL_CALLS]";

/** Strings are not escaped, as the template writes them. */
function describe(tool: ToolDefinition): string {
  const fields = [...toolJson(tool)].map(
    ([key, value]) =>
      `"${key}": ${typeof value === "string" ? `"${value}"` : writeExact(value, pythonJson)}`,
  );
  return `{"type": "function", "function": {${fields.join(", ")}}}`;
}

/** No parts where there are no tools. */
export function describeMistralTools(
  tools: readonly ToolDefinition[],
  space: string,
): readonly Part[] {
  if (tools.length === 0) return [];
  return [
    markup(`[AVAILABLE_TOOLS]${space}[`),
    plain(tools.map(describe).join(", ")),
    markup("][/AVAILABLE_TOOLS]"),
  ];
}

/** What is sampled has no ids of calls; those are the gateway's. */
export function mistralTools(space: string): Pick<ToolFormat, "grammar" | "syntax"> {
  return {
    grammar: callsInList({
      start: mistralCallStart,
      wrap: (calls) => [
        { type: "tag", text: mistralCallStart },
        { type: "literal", text: `${space}[` },
        calls,
        { type: "literal", text: "]" },
      ],
    }),
    syntax: listedCalls(mistralCallStart, ""),
  };
}
