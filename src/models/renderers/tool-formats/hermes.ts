/** Tool calls as Hermes and Qwen write them: `<tool_call>` JSON `</tool_call>`. */
import type { ToolDefinition } from "../../../core/message.ts";
import { toolJson } from "../../../core/tool-json.ts";
import { pythonJson, tryParseExact, writeExact } from "../../../util/exact-json.ts";
import { markup, plain, type Part } from "../token-builder.ts";
import { isFields, JsonScan, readJsonCall, writeJsonCall } from "./json-call.ts";
import { callEnd, callStart, taggedCalls } from "./tagged-calls.ts";
import { argumentsGrammar, type ToolFormat } from "./tool-format.ts";

/** The tools in the system prompt, with full JSON schemas. */
function describeTools(tools: readonly ToolDefinition[]): readonly Part[] {
  const signatures = tools.map((tool) =>
    plain(`\n{"type": "function", "function": ${writeExact(toolJson(tool), pythonJson)}}`),
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
  const signature = (tool: ToolDefinition): string => {
    const parameters = toolJson(tool).get("parameters");
    const properties = isFields(parameters) ? parameters.get("properties") : undefined;
    return `${tool.name}(${(isFields(properties) ? [...properties.keys()] : []).join(", ")})`;
  };
  return [plain(`Tools: ${tools.map(signature).join(", ")}`)];
}

export const hermesTools: ToolFormat = {
  describe: describeTools,
  call: (name, argumentsText) => [
    markup(`${callStart}\n`),
    plain(writeJsonCall(name, argumentsText)),
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
  syntax: taggedCalls({
    begins: "{",
    scan() {
      const scan = new JsonScan();
      return (body) => scan.endIn(body) !== -1;
    },
    read: (body) => readJsonCall(tryParseExact(body)),
  }),
};

/** Like Hermes, but the tools are one short line. */
export const namedTools: ToolFormat = { ...hermesTools, describe: listTools };
