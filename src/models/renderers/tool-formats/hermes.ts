/** Tool calls as Hermes and Qwen write them: `<tool_call>` JSON `</tool_call>`. */
import type { JsonObject, ToolDefinition } from "../../../core/message.ts";
import { objectFields, spacedJson } from "../json-text.ts";
import { markup, plain, type Part } from "../token-builder.ts";
import { callEnd, callStart, parseTaggedCalls } from "./tagged-calls.ts";
import { argumentsGrammar, type ReadCall, type ToolFormat } from "./tool-format.ts";

/** The tools in the system prompt, with full JSON schemas. */
function describeTools(tools: readonly ToolDefinition[]): readonly Part[] {
  const signatures = tools.map((tool) =>
    plain(`\n${spacedJson(JSON.stringify({ type: "function", function: tool })) ?? ""}`),
  );
  return [
    markup(
      "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" +
        "You are provided with function signatures within <tools></tools> XML tags:\n<tools>",
    ),
    ...signatures,
    markup(
      "\n</tools>\n\nFor each function call, return a json object with function name and arguments " +
        `within ${callStart}${callEnd} XML tags:\n${callStart}\n` +
        `{"name": <function-name>, "arguments": <args-json-object>}\n${callEnd}`,
    ),
  ];
}

/** The tools as one short line, for models with a small context: `Tools: price(item), add(a, b)`. */
function listTools(tools: readonly ToolDefinition[]): readonly Part[] {
  const signature = ({ name, parameters }: ToolDefinition): string => {
    const properties = (parameters?.["properties"] ?? {}) as JsonObject;
    return `${name}(${Object.keys(properties).join(", ")})`;
  };
  return [plain(`Tools: ${tools.map(signature).join(", ")}`)];
}

function readCall(body: string): ReadCall {
  const fields = objectFields(body);
  if (fields === null) {
    return isJson(body) ? 'a tool call has no "name"' : "a tool call is not JSON";
  }
  const name: unknown = JSON.parse(fields.get("name") ?? "null");
  if (typeof name !== "string") return 'a tool call has no "name"';
  const given = fields.get("arguments") ?? "{}";
  // Some models write the arguments as a string that holds JSON.
  return { name, arguments: given.startsWith('"') ? (JSON.parse(given) as string) : given };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export const hermesTools: ToolFormat = {
  describe: describeTools,
  call: (name, argumentsText) => [
    markup(`${callStart}\n`),
    // Arguments that are not JSON are rendered unchanged.
    plain(
      `{"name": ${JSON.stringify(name)}, "arguments": ${spacedJson(argumentsText) ?? argumentsText}}`,
    ),
    markup(`\n${callEnd}`),
  ],
  grammar: {
    call: (tool, isStrict) => ({
      type: "sequence",
      parts: [
        { type: "tag", text: callStart },
        { type: "literal", text: `\n{"name": ${JSON.stringify(tool.name)}, "arguments": ` },
        argumentsGrammar(tool, isStrict),
        { type: "literal", text: "}\n" },
        { type: "tag", text: callEnd },
      ],
    }),
    separator: "\n",
    start: callStart,
  },
  parse: (text) => parseTaggedCalls(text, readCall),
};

/** Like Hermes, but the tools are one short line. */
export const namedTools: ToolFormat = { ...hermesTools, describe: listTools };
