/** The pieces of a message's content, as OpenAI, Anthropic, Google, Amazon, the AI SDK, LangChain and OpenTelemetry have them. */
import type { Damage } from "../../core/completeness.ts";
import type { ContentPart, ToolCall } from "../../core/message.ts";
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { valueText } from "./exact-values.ts";

interface ToolResult {
  readonly callId: string | null;
  readonly name: string | null;
  readonly content: readonly ContentPart[];
}

/** What a message says, sorted by kind, and what of it is lost. */
export interface Parts {
  readonly content: ContentPart[];
  readonly reasoning: string[];
  readonly toolCalls: ToolCall[];
  readonly results: ToolResult[];
  readonly damage: Set<Damage>;
}

/** @param damage what is lost is added to it */
export const noParts = (damage: Set<Damage>): Parts => ({
  content: [],
  reasoning: [],
  toolCalls: [],
  results: [],
  damage,
});

export const stringOf = (value: unknown): string | null =>
  typeof value === "string" ? value : null;

/** Text as it is, anything else as JSON. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : valueText(value);

/** What telemetry records in place of a text that it hides or shortens. */
const masks = new Set([
  "__REDACTED__",
  "<truncated due to size exceeding limit>",
  "[REDACTED]",
  "[Filtered]",
]);

export const isMasked = (text: unknown): boolean => masks.has(text as string);

/** A text that was recorded; what is absent is not the same as what is empty. */
function textPart(parts: Parts, ...values: readonly unknown[]): ContentPart[] {
  const value = values.find((one) => one !== undefined && one !== null);
  if (value === undefined || isMasked(value)) parts.damage.add("missing text");
  return value === undefined ? [] : [{ type: "text", text: asText(value) }];
}

const isEmptyArguments = (text: string): boolean => text === "" || text === "{}";

/** Streams record arguments in pieces, next to the object that is to have them. */
function argumentsOf(given: JsonFields): string {
  const texts = ["arguments", "input", "args"].map((name) => asText(given[name]));
  const pieces = stringOf(given["partial_json"]) ?? "";
  return (
    texts.find((text) => !isEmptyArguments(text)) ??
    (pieces === "" ? (texts.find((text) => text !== "") ?? "") : pieces)
  );
}

function addCall(parts: Parts, part: JsonFields): void {
  const given = isJsonObject(part["function"]) ? part["function"] : part;
  const id = ["toolCallId", "call_id", "toolUseId", "id"].map((key) => stringOf(part[key]));
  const name = stringOf(given["name"]) ?? stringOf(given["toolName"]);
  if (name === null) return void parts.damage.add("lost arguments");
  parts.toolCalls.push({
    id: id.find((one) => one !== null) ?? "",
    name,
    arguments: argumentsOf(given),
  });
}

/** More of the arguments of the call before. */
function addArguments(parts: Parts, part: JsonFields): void {
  const last = parts.toolCalls.at(-1);
  const more = stringOf(part["partial_json"]) ?? stringOf(part["input"]) ?? "";
  if (last === undefined) return void parts.damage.add("lost arguments");
  const before = isEmptyArguments(last.arguments) ? "" : last.arguments;
  parts.toolCalls[parts.toolCalls.length - 1] = { ...last, arguments: `${before}${more}` };
}

/** The same calls are recorded twice by some, once without their arguments. */
export function mergeCalls(parts: Parts, others: readonly ToolCall[]): void {
  const byId = new Map(parts.toolCalls.map(({ id }, at) => [id, at]));
  for (const [i, other] of others.entries()) {
    const at = other.id === "" ? i : (byId.get(other.id) ?? -1);
    const own = parts.toolCalls[at];
    if (own === undefined || own.name !== other.name) parts.toolCalls.push(other);
    else if (isEmptyArguments(own.arguments) && !isEmptyArguments(other.arguments))
      parts.toolCalls[at] = { ...own, arguments: other.arguments };
  }
}

/** What a tool returned: text or pieces, else JSON. */
function resultContent(parts: Parts, value: unknown): readonly ContentPart[] {
  // The AI SDK wraps it: `{ type: "json", value }`.
  if (isJsonObject(value) && "value" in value && typeof value["type"] === "string")
    return resultContent(parts, value["value"]);
  if (!Array.isArray(value)) return textPart(parts, value);
  const own = noParts(new Set());
  for (const piece of value as unknown[]) {
    const json = isJsonObject(piece) && piece["type"] === undefined ? piece["json"] : undefined;
    if (json === undefined) addPart(own, piece);
    else own.content.push({ type: "text", text: asText(json) });
  }
  const isKnown = own.damage.size === 0 && own.content.length === value.length;
  return isKnown ? own.content : textPart(parts, value);
}

function addResult(parts: Parts, part: JsonFields): void {
  const id = ["toolCallId", "tool_use_id", "toolUseId", "tool_call_id", "call_id", "id"].map(
    (key) => stringOf(part[key]),
  );
  const said = ["output", "result", "content", "response"].map((key) => part[key]);
  const found = said.find((one) => one !== undefined);
  if (found === undefined) return void parts.damage.add("missing tool result");
  parts.results.push({
    callId: id.find((one) => one !== null) ?? null,
    name: stringOf(part["toolName"]) ?? stringOf(part["name"]),
    content: resultContent(parts, found),
  });
}

/** Images are not kept, only that there was one: what is trained here is text. */
const image: ContentPart = { type: "image", url: "data:," };

const media = [
  ...["image", "document", "video", "audio"],
  ...["inlineData", "inline_data", "fileData", "file_data"],
];

/** Pieces without a type, by the name of the field that they have: of Google and of Amazon's Converse. */
function addUntyped(parts: Parts, part: JsonFields): void {
  const field = (...names: readonly string[]): JsonFields | undefined =>
    names.map((name) => part[name]).find(isJsonObject);
  const call = field("functionCall", "function_call", "toolUse");
  const result = field("functionResponse", "function_response", "toolResult");
  const reasoning = field("reasoningContent");
  const cited = field("citationsContent");
  const guarded = field("guardContent");
  if (call !== undefined) addCall(parts, call);
  else if (result !== undefined) addResult(parts, result);
  else if (reasoning !== undefined) {
    const text = isJsonObject(reasoning["reasoningText"])
      ? reasoning["reasoningText"]["text"]
      : undefined;
    if (typeof text === "string") parts.reasoning.push(text);
  } else if (cited !== undefined) addContent(parts, cited["content"]);
  else if (guarded !== undefined) addContent(parts, guarded["text"]);
  else if (typeof part["text"] === "string") {
    if (part["thought"] === true) parts.reasoning.push(part["text"]);
    else parts.content.push(...textPart(parts, part["text"]));
  } else if (media.some((name) => part[name] !== undefined)) parts.content.push(image);
  else if (part["executableCode"] ?? part["codeExecutionResult"])
    parts.damage.add("tool of the service");
  else if (part["cachePoint"] === undefined) parts.damage.add("unknown item");
}

const kinds: Readonly<Record<string, (parts: Parts, part: JsonFields) => void>> = {
  text: (parts, part) =>
    void parts.content.push(...textPart(parts, part["text"], part["content"], part["refusal"])),
  reasoning: ({ reasoning }, part) => {
    const said = ["text", "thinking", "content", "reasoning"].map((name) => part[name]);
    reasoning.push(asText(said.find((one) => one !== undefined)));
  },
  call: addCall,
  arguments: addArguments,
  result: addResult,
  image: ({ content }) => void content.push(image),
  nothing: () => {},
  service: ({ damage }) => void damage.add("tool of the service"),
};

const typesOf: Readonly<Record<keyof typeof kinds, string>> = {
  text: "text input_text output_text refusal text_delta",
  reasoning: "reasoning thinking",
  call: "tool-call tool_use tool_call function function_call custom_tool_call",
  arguments: "input_json_delta",
  result:
    "tool-result tool_result tool_call_response function_call_output custom_tool_call_output tool_call_result",
  image:
    "image image_url input_image file input_file input_audio audio video media document blob uri",
  // They change nothing of what the model read and wrote.
  nothing:
    "redacted_thinking tool-approval-request tool-approval-response mcp_approval_request mcp_approval_response mcp_list_tools step-start source source-url cachePoint signature_delta",
  service:
    "server_tool_use server_tool_call server_tool_result mcp_tool_use mcp_tool_result mcp_call",
};

const kindOf: ReadonlyMap<string, string> = new Map(
  Object.entries(typesOf).flatMap(([kind, types]) =>
    types.split(" ").map((type) => [type, kind] as const),
  ),
);

/** Each tool of a service has another type: `web_search_call`, `code_execution_tool_result`. */
const ofService = /_call$|_call_output$|_tool_result$/u;

const isService = (type: unknown): boolean => typeof type === "string" && ofService.test(type);

/** Fields of which a piece of a kind has one: an answer in JSON may have the same type. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "content", "refusal"],
  reasoning: ["text", "thinking", "content", "reasoning", "summary"],
  call: ["name", "toolName", "function"],
  result: ["output", "result", "content", "response"],
  service: ["id", "tool_use_id"],
};

/** Whether this is a piece of content, or an item of OpenAI's Responses API. */
export function isPiece(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { type } = value;
  if ("message_content" in value) return true;
  if (type === "function") return isJsonObject(value["function"]);
  const kind = kindOf.get(type as string) ?? (isService(type) ? "service" : "");
  return (fieldsOf[kind] ?? []).some((name) => name in value);
}

/** What is not known is lost, and the rest is kept. */
export function addPart(parts: Parts, part: unknown): void {
  if (typeof part === "string") return void parts.content.push(...textPart(parts, part));
  if (!isJsonObject(part)) return void parts.damage.add("unknown item");
  // OpenInference has each piece, and each call, below a name.
  const inner = part["message_content"] ?? part["tool_call"];
  if (isJsonObject(inner)) return addPart(parts, { type: "tool_call", ...inner });
  const { type } = part;
  if (type === undefined) return addUntyped(parts, part);
  const kind = kindOf.get(type as string);
  if (kind !== undefined) return kinds[kind]!(parts, part);
  parts.damage.add(isService(type) ? "tool of the service" : "unknown item");
}

/** Content of one piece may be an answer in JSON. */
export function addContent(parts: Parts, content: unknown): void {
  if (content === undefined || content === null || content === "") return;
  if (Array.isArray(content)) {
    for (const part of content as unknown[]) addPart(parts, part);
    return;
  }
  const own = noParts(new Set());
  if (typeof content !== "string" && !isPiece(content)) addUntyped(own, { ...Object(content) });
  if (own.damage.has("unknown item")) parts.content.push({ type: "text", text: asText(content) });
  else addPart(parts, content);
}
