/**
 * Tool calls as Llama 3 writes them: the whole response is `{"name": ..., "parameters": {...}}`. Several
 * are separated by `;`, as vLLM reads them; Llama's own template supports one call per response.
 */
import type { ToolDefinition } from "../../../core/message.ts";
import type { ParsedCompletion } from "../../../core/policy.ts";
import { jsonEnd, objectFields, spacedJson } from "../json-text.ts";
import { plain, type Part } from "../token-builder.ts";
import { defined } from "../../../util/defined.ts";
import { argumentsGrammar, type ReadCall, type ToolFormat } from "./tool-format.ts";

/** Llama writes it before calls of tools that run code. */
export const pythonTag = "<|python_tag|>";

function describeTools(tools: readonly ToolDefinition[]): readonly Part[] {
  const schemas = tools.map(
    (tool) => `${JSON.stringify({ type: "function", function: tool }, null, 4)}\n\n`,
  );
  return [
    plain(
      "Given the following functions, please respond with a JSON for a function call " +
        "with its proper arguments that best answers the given prompt.\n\n" +
        'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.' +
        `Do not use variables.\n\n${schemas.join("")}`,
    ),
  ];
}

/** null: it is JSON, but not a call. */
function readCall(text: string): ReadCall | null {
  const fields = objectFields(text);
  if (fields === null) return "a tool call is not JSON";
  const name: unknown = JSON.parse(fields.get("name") ?? "null");
  const given = fields.get("parameters") ?? fields.get("arguments");
  if (typeof name !== "string" || given === undefined) return null;
  return { name, arguments: given.startsWith('"') ? (JSON.parse(given) as string) : given };
}

function parse(text: string): ParsedCompletion {
  const tagged = text.trimStart().startsWith(pythonTag);
  const own = tagged ? text.trimStart().slice(pythonTag.length) : text;
  const asContent = (malformed?: string): ParsedCompletion => ({
    content: text,
    toolCalls: [],
    ...defined({ malformed }),
  });
  const claimsCall = tagged || /^\s*\{\s*"(?:name|type|function)"/.test(own);
  const toolCalls: Exclude<ReadCall, string>[] = [];
  let at = 0;
  while (own.slice(at).trim() !== "") {
    const start = at + (/^[\s;,]*/.exec(own.slice(at))?.[0].length ?? 0);
    if (own[start] !== "{") break;
    const end = jsonEnd(own, start);
    if (end === -1) return asContent(claimsCall ? "a tool call is not closed" : undefined);
    const call = readCall(own.slice(start, end));
    if (call === null)
      return asContent(tagged ? "a tool call has no name or parameters" : undefined);
    if (typeof call === "string") return asContent(claimsCall ? call : undefined);
    toolCalls.push(call);
    at = end;
  }
  if (toolCalls.length === 0) return asContent(tagged ? "a tool call is not JSON" : undefined);
  // An incomplete call, or a response that starts with one and continues with text.
  const rest = own.slice(at).replace(/^[\s;]+/, "");
  return rest === "" ? { content: "", toolCalls } : asContent("a tool call is followed by text");
}

export const llamaTools: ToolFormat = {
  describe: describeTools,
  call: (name, argumentsText) => [
    plain(`{"name": "${name}", "parameters": ${spacedJson(argumentsText) ?? argumentsText}}`),
  ],
  grammar: {
    call: (tool, isStrict) => ({
      type: "sequence",
      parts: [
        { type: "literal", text: `{"name": ${JSON.stringify(tool.name)}, "parameters": ` },
        argumentsGrammar(tool, isStrict),
        { type: "literal", text: "}" },
      ],
    }),
    separator: "; ",
    start: null,
  },
  parse,
};
