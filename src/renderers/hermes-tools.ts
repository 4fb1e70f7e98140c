/**
 * Tool calls as Hermes and Qwen write them: `<tool_call>` JSON `</tool_call>`, several in a row for
 * parallel calls. Text only; knows no tokens.
 */
import { AgentTrainerError } from "../core/errors.ts";
import type { ParsedCompletion } from "../core/policy.ts";
import type { ChatMessage, JsonObject, ToolDefinition } from "../core/message.ts";

export const callStart = "<tool_call>";
export const callEnd = "</tool_call>";

/** One call as the body between the tags, in the very form that models are taught. */
export function formatCall(name: string, argumentsText: string): string {
  let compact = argumentsText;
  try {
    compact = spaced(JSON.parse(argumentsText));
  } catch {
    // What the model once wrote is shown back as it was.
  }
  return `{"name": ${JSON.stringify(name)}, "arguments": ${compact}}`;
}

/** JSON with a space after colons and commas, as Python's json.dumps writes it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(
      ([key, item]) => `${JSON.stringify(key)}: ${spaced(item)}`,
    );
    return `{${fields.join(", ")}}`;
  }
  return JSON.stringify(value);
}

/** The tools in the system prompt, with full JSON schemas. */
export function describeTools(tools: readonly ToolDefinition[]): string {
  const signatures = tools.map((tool) => spaced({ type: "function", function: tool })).join("\n");
  return (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" +
    "You are provided with function signatures within <tools></tools> XML tags:\n" +
    `<tools>\n${signatures}\n</tools>\n\n` +
    "For each function call, return a json object with function name and arguments within " +
    `${callStart}${callEnd} XML tags:\n${callStart}\n` +
    `{"name": <function-name>, "arguments": <args-json-object>}\n${callEnd}`
  );
}

/** The tools as one short line, for models with a small context: `Tools: price(item), add(a, b)`. */
export function listTools(tools: readonly ToolDefinition[]): string {
  const signature = ({ name, parameters }: ToolDefinition): string => {
    const properties = (parameters?.["properties"] ?? {}) as JsonObject;
    return `${name}(${Object.keys(properties).join(", ")})`;
  };
  return `Tools: ${tools.map(signature).join(", ")}`;
}

/** Splits an assistant's text into content and calls. Never throws; what cannot be read stays content. */
export function parseCalls(text: string): ParsedCompletion {
  const toolCalls: { name: string; arguments: string }[] = [];
  let content = "";
  let malformed: string | undefined;
  let rest = text;
  for (let start = rest.indexOf(callStart); start !== -1; start = rest.indexOf(callStart)) {
    const end = rest.indexOf(callEnd, start);
    const body = rest.slice(start + callStart.length, end === -1 ? undefined : end);
    const after = end === -1 ? rest.length : end + callEnd.length;
    const call = readCall(body);
    if (end === -1) malformed ??= `a tool call is not closed by ${callEnd}`;
    else if (typeof call === "string") malformed ??= call;
    if (end === -1 || typeof call === "string") {
      content += rest.slice(0, after);
    } else {
      content += rest.slice(0, start);
      toolCalls.push(call);
    }
    rest = rest.slice(after);
  }
  content += rest;
  return {
    content: toolCalls.length > 0 ? content.trim() : content,
    toolCalls,
    ...(malformed === undefined ? {} : { malformed }),
  };
}

/** The call, or why it is none. */
function readCall(body: string): { name: string; arguments: string } | string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return "a tool call is not JSON";
  }
  if (
    typeof value !== "object" ||
    value === null ||
    !("name" in value) ||
    typeof value.name !== "string"
  ) {
    return 'a tool call has no "name"';
  }
  const given = "arguments" in value ? value.arguments : {};
  return { name: value.name, arguments: typeof given === "string" ? given : JSON.stringify(given) };
}

/** Text of a message; images cannot be shown to a text model. */
export function textOf(message: ChatMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .map((part) => {
      if (part.type === "image") {
        throw new AgentTrainerError({
          code: "REQUEST_INVALID",
          message: "This model reads text only, but a message holds an image.",
        });
      }
      return part.text;
    })
    .join("");
}
