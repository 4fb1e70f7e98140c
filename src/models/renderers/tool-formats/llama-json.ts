/**
 * Tool calls as Llama 3 writes them: the whole response is `{"name": ..., "parameters": {...}}`. Several
 * are separated by `;`, as vLLM reads them; Llama's own template supports one call per response.
 */
import type { CallSyntax, FoundCalls } from "../../../core/completion-reader.ts";
import type { ToolDefinition } from "../../../core/message.ts";
import { toolJson } from "../../../core/tool-json.ts";
import { pythonJson, tryParseExact, writeExact, type ExactJson } from "../../../util/exact-json.ts";
import { plain, type Part } from "../token-builder.ts";
import { isFields, JsonScan, readJsonCall, writeArguments } from "./json-call.ts";
import { argumentsGrammar, type ReadCall, type ToolFormat } from "./tool-format.ts";

/** Llama writes it before calls of tools that run code. */
const pythonTag = "<|python_tag|>";

function describeTools(tools: readonly ToolDefinition[]): readonly Part[] {
  const schemas = tools.map((tool) => {
    const fields = new Map<string, ExactJson>([
      ["type", "function"],
      ["function", toolJson(tool)],
    ]);
    return `${indented(fields)}\n\n`;
  });
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
function readCall(
  value: ExactJson | undefined,
  isOffered: (name: string) => boolean,
): ReadCall | null {
  const name = isFields(value) ? value.get("name") : undefined;
  if (value === undefined) return readJsonCall(value);
  if (!isFields(value) || typeof name !== "string") return null;
  const isCall = value.has("parameters") || value.has("arguments") || isOffered(name);
  return isCall ? readJsonCall(value) : null;
}

function readCalls(text: string, isOffered: (name: string) => boolean): Omit<FoundCalls, "end"> {
  const isTagged = text.startsWith(pythonTag);
  const own = isTagged ? text.slice(pythonTag.length) : text;
  const claimsCall = isTagged || /^\{\s*"(?:name|type|function)"/u.test(own);
  const asContent = (why: string, isClear = claimsCall): Omit<FoundCalls, "end"> => ({
    calls: [],
    ...(isClear ? { malformed: why } : {}),
  });
  const calls: FoundCalls["calls"][number][] = [];
  let at = 0;
  for (;;) {
    // Between calls, and before the first one after a tag.
    while (/[\s;,]/u.test(own.charAt(at))) at++;
    if (at === own.length && calls.length > 0) return { calls };
    if (own[at] !== "{")
      return calls.length === 0
        ? asContent("a tool call is not JSON", isTagged)
        : asContent("a tool call is followed by text", true);
    const end = new JsonScan().endIn(own.slice(at));
    if (end === -1) return asContent("a tool call is not closed");
    const call = readCall(tryParseExact(own.slice(at, at + end)), isOffered);
    if (call === null) return asContent("a tool call has no name or parameters", isTagged);
    if (typeof call === "string") return asContent(call);
    calls.push(call);
    at += end;
  }
}

const syntax: CallSyntax = {
  marks: [pythonTag],
  find(text, from, isStart) {
    const all = { at: text.length, isFound: false };
    if (!isStart) return all;
    const own = text.slice(from).trimStart();
    const at = text.length - own.length;
    if (own.startsWith("{") || text.find(pythonTag, at) === at) return { at, isFound: true };
    // A tag may be beginning.
    return text.certainWithout(pythonTag) === at ? { at, isFound: false } : all;
  },
  open: (text, at, tools) => () =>
    text.isWhole
      ? {
          end: text.length,
          ...readCalls(
            text.slice(at),
            (name) => tools?.some((tool) => tool.name === name) === true,
          ),
        }
      : null,
};

/** As Python's `json.dumps(..., indent=4)`. */
function indented(value: ExactJson, indent = "\n"): string {
  const inner = `${indent}    `;
  const lines = (open: string, items: readonly string[], close: string): string =>
    items.length === 0
      ? open + close
      : `${open}${items.map((item) => inner + item).join(",")}${indent}${close}`;
  if (isFields(value)) {
    const fields = [...value].map(
      ([key, field]) => `${JSON.stringify(key)}: ${indented(field, inner)}`,
    );
    return lines("{", fields, "}");
  }
  if (!Array.isArray(value)) return writeExact(value, pythonJson);
  return lines(
    "[",
    (value as readonly ExactJson[]).map((item) => indented(item, inner)),
    "]",
  );
}

export const llamaTools: ToolFormat = {
  describe: describeTools,
  call: (name, argumentsText) => [
    plain(`{"name": "${name}", "parameters": ${writeArguments(argumentsText)}}`),
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
  syntax,
};
