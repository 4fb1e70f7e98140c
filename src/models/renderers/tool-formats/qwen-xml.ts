/**
 * Tool calls as Qwen3-Coder writes them: `<tool_call><function=NAME><parameter=K>V</parameter></function>
 * </tool_call>`. A value has no type there. Without the tool's schema, what parses as a JSON
 * object, array, number, boolean or null is that, and everything else is a string.
 */
import type { JsonObject, JsonValue, ToolDefinition } from "../../../core/message.ts";
import { compactJson, objectFields, spacedJson } from "../json-text.ts";
import { markup, plain, type Part } from "../token-builder.ts";
import { callEnd, callStart, parseTaggedCalls } from "./tagged-calls.ts";
import type { ReadCall, ToolFormat } from "./tool-format.ts";
import { isJsonObject } from "../../../util/json-object.ts";

const instructions =
  "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n" +
  `${callStart}\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n` +
  "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\n" +
  `multiple lines\n</parameter>\n</function>\n${callEnd}\n\n<IMPORTANT>\nReminder:\n` +
  "- Function calls MUST follow the specified format: an inner <function=...></function> block must be " +
  `nested within ${callStart}${callEnd} XML tags\n- Required parameters MUST be specified\n` +
  "- You may provide optional reasoning for your function call in natural language BEFORE the function " +
  "call, but NOT after\n- If there is no function call available, answer the question like normal with " +
  "your current knowledge and do not tell the user about function calls\n</IMPORTANT>";

/** Formatted as by Python's str(), as the template does. */
function shown(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value === null) return "None";
  return spacedJson(JSON.stringify(value)) ?? "";
}

function extraFields(object: JsonObject, handled: readonly string[]): string {
  return Object.entries(object)
    .filter(([key]) => !handled.includes(key))
    .map(([key, value]) => `\n<${key}>${shown(value)}</${key}>`)
    .join("");
}

function describeParameter([name, schema]: [string, JsonValue]): string {
  const fields = isJsonObject(schema) ? schema : {};
  const { type, description } = fields;
  return (
    `\n<parameter>\n<name>${name}</name>` +
    (type === undefined ? "" : `\n<type>${shown(type)}</type>`) +
    (description === undefined ? "" : `\n<description>${shown(description).trim()}</description>`) +
    `${extraFields(fields, ["name", "type", "description"])}\n</parameter>`
  );
}

function describeTool({ name, description, parameters }: ToolDefinition): string {
  const properties = parameters?.["properties"];
  return (
    `\n<function>\n<name>${name}</name>` +
    (description === undefined ? "" : `\n<description>${description.trim()}</description>`) +
    `\n<parameters>${Object.entries(isJsonObject(properties) ? properties : {})
      .map(describeParameter)
      .join(
        "",
      )}${extraFields(parameters ?? {}, ["type", "properties"])}\n</parameters>\n</function>`
  );
}

function writeValue(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : (spacedJson(json) ?? json);
}

function writeCall(name: string, argumentsText: string): readonly Part[] {
  const fields = objectFields(argumentsText);
  const body =
    fields === null
      ? [plain(`${argumentsText}\n`)]
      : [...fields].map(([key, value]) =>
          plain(`<parameter=${key}>\n${writeValue(value)}\n</parameter>\n`),
        );
  return [
    markup(`${callStart}\n`),
    plain(`<function=${name}>\n`),
    ...body,
    markup(`</function>\n${callEnd}`),
  ];
}

function readValue(text: string): string {
  const value = text.replace(/^\n/, "").replace(/\n$/, "");
  return /^\s*(?:[[{]|-?\d|true\s*$|false\s*$|null\s*$)/.test(value)
    ? (compactJson(value) ?? JSON.stringify(value))
    : JSON.stringify(value);
}

function readCall(body: string): ReadCall {
  const call = /^\s*<function=([^>\s]+)>([\s\S]*?)<\/function>\s*$/.exec(body);
  if (call === null) return "a tool call has no complete <function=...> block";
  const [, name = "", inner = ""] = call;
  const fields: string[] = [];
  // The last closing tag before the next parameter counts, because a value may hold one.
  const parameters = inner.split(/<parameter=([^>]+)>/);
  if ((parameters[0] ?? "").trim() !== "") return "a tool call has text outside its parameters";
  for (let i = 1; i < parameters.length; i += 2) {
    const value = parameters[i + 1] ?? "";
    const end = value.lastIndexOf("</parameter>");
    if (end === -1) return `the parameter "${parameters[i]}" of a tool call is not closed`;
    fields.push(`${JSON.stringify(parameters[i])}:${readValue(value.slice(0, end))}`);
  }
  return { name, arguments: `{${fields.join(",")}}` };
}

export const xmlTools: ToolFormat = {
  describe: (tools) => [
    markup("# Tools\n\nYou have access to the following functions:\n\n<tools>"),
    plain(tools.map(describeTool).join("")),
    markup(instructions),
  ],
  call: writeCall,
  parse: (text) => parseTaggedCalls(text, readCall),
};
