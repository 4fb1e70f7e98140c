/**
 * Tool calls as Qwen3-Coder writes them: `<tool_call><function=NAME><parameter=K>V</parameter></function>
 * </tool_call>`. A value has no type there; it gets that of the tool's schema.
 */
import type { CallSyntax } from "../../../core/completion-reader.ts";
import type { ToolDefinition } from "../../../core/message.ts";
import { toolJson } from "../../../core/tool-json.ts";
import { writeExact, type ExactJson } from "../../../util/exact-json.ts";
import { taggedCalls } from "./tagged-calls.ts";
import type { ReadCall } from "./tool-format.ts";
import { parameterSchema, readTyped } from "./typed-value.ts";

const functionEnd = "</function>";
const parameterStart = "<parameter=";
const parameterEnd = "</parameter>";

/** Not the closing tags of a value: a whole body ends with its last parameter. */
function isWhole(body: string): boolean {
  const own = body.trimEnd();
  if (!own.endsWith(functionEnd)) return false;
  const inner = own.slice(0, -functionEnd.length).trimEnd();
  return inner.endsWith(parameterEnd) || !inner.includes(parameterStart);
}

/** Names and texts of the parameters, or why they cannot be read. */
function readParameters(inner: string): ReadonlyMap<string, string> | string {
  const found = new Map<string, string>();
  const skipSpace = (from: number): number => {
    let at = from;
    while (/\s/u.test(inner.charAt(at))) at++;
    return at;
  };
  for (let at = skipSpace(0); at < inner.length;) {
    const nameEnd = inner.indexOf(">", at);
    if (!inner.startsWith(parameterStart, at) || nameEnd === -1)
      return "a tool call has text outside its parameters";
    const name = inner.slice(at + parameterStart.length, nameEnd);
    let close = inner.indexOf(parameterEnd, nameEnd);
    let next = -1;
    for (; close !== -1; close = inner.indexOf(parameterEnd, close + 1)) {
      next = skipSpace(close + parameterEnd.length);
      // A value may hold a closing tag; what ends it is followed by the next parameter, or by nothing.
      if (next === inner.length || inner.startsWith(parameterStart, next)) break;
    }
    if (close === -1) return `the parameter "${name}" of a tool call is not closed`;
    const value = inner.slice(nameEnd + 1, close);
    found.set(name, value.replace(/^\n/u, "").replace(/\n$/u, ""));
    at = next;
  }
  return found;
}

function readCall(body: string, tools: readonly ToolDefinition[] | undefined): ReadCall {
  const call = /^\s*<function=([^>\s]+)>/u.exec(body);
  if (call === null || !body.trimEnd().endsWith(functionEnd))
    return "a tool call has no complete <function=...> block";
  const [start, name = ""] = call;
  const parameters = readParameters(body.slice(start.length, body.lastIndexOf(functionEnd)));
  if (typeof parameters === "string") return parameters;
  const tool = tools?.find((each) => each.name === name);
  const schema = tool && (toolJson(tool).get("parameters") ?? true);
  let malformed =
    tools === undefined || tool !== undefined
      ? undefined
      : `the tool "${name}" of a call was not offered`;
  const fields = new Map<string, ExactJson>();
  for (const [key, text] of parameters) {
    const own = schema === undefined ? undefined : parameterSchema(schema, key);
    if (schema !== undefined && own === undefined)
      malformed ??= `a call of "${name}" has the parameter "${key}", which the tool does not have`;
    // Where the tool is not known, its values are read by their looks; where it has no such parameter, they are text.
    const read = readTyped(text, own ?? tools === undefined, schema ?? true);
    if (own !== undefined && !read.fits)
      malformed ??= `the parameter "${key}" of a call of "${name}" has a value that the tool does not take`;
    fields.set(key, read.value);
  }
  const written = { name, arguments: writeExact(fields) };
  return malformed === undefined ? written : { ...written, malformed };
}

export const xmlCalls: CallSyntax = taggedCalls({
  begins: "<function=",
  scan: () => isWhole,
  read: readCall,
});
