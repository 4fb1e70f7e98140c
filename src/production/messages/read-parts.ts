/** The pieces of a message's content, as OpenAI, Anthropic, Google, the AI SDK, LangChain and OpenTelemetry have them. */
import type { ContentPart, ToolCall } from "../../core/message.ts";
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";

interface ToolResult {
  readonly callId: string | null;
  readonly name: string | null;
  readonly text: string;
}

/** What a message says, sorted by kind. */
export interface Parts {
  readonly content: ContentPart[];
  readonly reasoning: string[];
  readonly toolCalls: ToolCall[];
  readonly results: ToolResult[];
}

export const noParts = (): Parts => ({ content: [], reasoning: [], toolCalls: [], results: [] });

export const stringOf = (value: unknown): string | null =>
  typeof value === "string" ? value : null;

/** Text as it is, anything else as JSON. */
export const asText = (value: unknown): string =>
  typeof value === "string"
    ? value
    : value === undefined || value === null
      ? ""
      : JSON.stringify(value);

/** Arguments as JSON text: some have them as an object. */
const argumentsText = (value: unknown): string => asText(value) || "{}";

function toolCallOf(part: JsonFields, index: number): ToolCall {
  const given = isJsonObject(part["function"]) ? part["function"] : part;
  const id = part["toolCallId"] ?? part["call_id"] ?? part["id"];
  const name = stringOf(given["name"]) ?? stringOf(given["toolName"]);
  if (name === null) throw new Error("a tool call has no name");
  const args = given["arguments"] ?? given["input"] ?? given["args"];
  return { id: stringOf(id) ?? `call_${index}`, name, arguments: argumentsText(args) };
}

/** The AI SDK wraps what a tool returned: `{ type: "json", value }`. */
function resultText(value: unknown): string {
  if (isJsonObject(value) && "value" in value && typeof value["type"] === "string")
    return asText(value["value"]);
  if (!Array.isArray(value)) return asText(value);
  const texts = value.map((one: unknown) => (isJsonObject(one) ? stringOf(one["text"]) : null));
  return texts.every((text) => text !== null) ? texts.join("\n") : asText(value);
}

function resultOf(part: JsonFields): ToolResult {
  const id = ["toolCallId", "tool_use_id", "tool_call_id", "call_id", "id"].map((key) => part[key]);
  const said = ["output", "result", "content", "response"].map((key) => part[key]);
  return {
    callId: stringOf(id.find((one) => typeof one === "string")),
    name: stringOf(part["toolName"]) ?? stringOf(part["name"]),
    text: resultText(said.find((one) => one !== undefined)),
  };
}

/** Images are not kept, only that there was one: what is trained here is text. */
const image: ContentPart = { type: "image", url: "data:," };

function addGemini(parts: Parts, part: JsonFields): void {
  const { functionCall, functionResponse, text } = part;
  if (isJsonObject(functionCall))
    parts.toolCalls.push(toolCallOf(functionCall, parts.toolCalls.length));
  else if (isJsonObject(functionResponse)) parts.results.push(resultOf(functionResponse));
  else if (typeof text !== "string") parts.content.push(image);
  else if (part["thought"] === true) parts.reasoning.push(text);
  else parts.content.push({ type: "text", text });
}

/** @throws Error for a piece without a known type. */
export function addPart(parts: Parts, part: unknown): void {
  if (typeof part === "string") return void parts.content.push({ type: "text", text: part });
  if (!isJsonObject(part)) throw new Error("a piece of content is neither text nor an object");
  // OpenInference has each piece, and each call, below a name.
  const inner = part["message_content"] ?? part["tool_call"];
  if (isJsonObject(inner)) return addPart(parts, { type: "tool_call", ...inner });
  switch (part["type"]) {
    case undefined:
      return addGemini(parts, part);
    case "text":
    case "input_text":
    case "output_text":
    case "refusal":
      return void parts.content.push({
        type: "text",
        text: asText(part["text"] ?? part["content"] ?? part["refusal"]),
      });
    case "reasoning":
    case "thinking":
      return void parts.reasoning.push(
        asText(part["text"] ?? part["thinking"] ?? part["content"] ?? part["reasoning"]),
      );
    case "redacted_thinking":
      return;
    case "tool-call":
    case "tool_use":
    case "tool_call":
    case "function":
    case "function_call":
      return void parts.toolCalls.push(toolCallOf(part, parts.toolCalls.length));
    case "tool-result":
    case "tool_result":
    case "tool_call_response":
    case "function_call_output":
      return void parts.results.push(resultOf(part));
    case "image":
    case "image_url":
    case "input_image":
    case "file":
    case "input_file":
    case "input_audio":
    case "document":
    case "blob":
    case "uri":
      return void parts.content.push(image);
    default:
      throw new Error(`content of the type ${asText(part["type"]).slice(0, 40)} is not known`);
  }
}

export function addContent(parts: Parts, content: unknown): void {
  if (content === undefined || content === null || content === "") return;
  if (Array.isArray(content)) for (const part of content as unknown[]) addPart(parts, part);
  else addPart(parts, content);
}
