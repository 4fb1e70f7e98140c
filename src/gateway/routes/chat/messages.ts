/** OpenAI chat messages to core messages. What cannot be supported is refused by the place it stands at. */
import type { ChatMessage, ContentPart, ToolCall } from "../../../core/message.ts";
import { badRequest } from "../../http/api-error.ts";
import { asList, readArray, readObject, readString, show } from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import { toImagePart, unreadablePart, type ContentOptions } from "../fields/request-fields.ts";
import { defined } from "../../../util/defined.ts";

const known =
  "those of chat requests: text, image_url, refusal. Reasoning of an assistant stands in reasoning_content";

function parsePart(part: unknown, at: string, options: ContentOptions): ContentPart {
  if (!isJsonObject(part))
    throw badRequest(at, `${at} must be an object, but it is ${show(part)}.`);
  if (part.type === "text" || part.type === "refusal") {
    const text = readString(part, part.type, `${at}.${part.type}`);
    if (text !== undefined) return { type: "text", text };
    throw badRequest(at, `${at}.${part.type} is missing.`);
  }
  if (part.type !== "image_url") throw unreadablePart(at, part.type, options, known);
  const image = part.image_url;
  const url = isJsonObject(image) ? readString(image, "url", `${at}.image_url.url`) : image;
  return toImagePart(typeof url === "string" ? url : undefined, at, options);
}

function parseContent(
  content: unknown,
  at: string,
  options: ContentOptions,
): ChatMessage["content"] {
  if (typeof content === "string") return content;
  const given = asList(content, at);
  if (!given) {
    throw badRequest(at, `${at} must be a string or a list of parts, but it is ${show(content)}.`);
  }
  const parts = given.map((part, i) => parsePart(part, `${at}[${i}]`, options));
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

function parseToolCall(call: unknown, at: string): ToolCall {
  if (!isJsonObject(call))
    throw badRequest(at, `${at} must be an object, but it is ${show(call)}.`);
  if (call.type !== undefined && call.type !== "function") {
    throw badRequest(
      at,
      `${at} has the type ${show(call.type)}, but only "function" is supported.`,
    );
  }
  const inner = readObject(call, "function", `${at}.function`) ?? {};
  const id = readString(call, "id", `${at}.id`);
  const name = readString(inner, "name", `${at}.function.name`);
  const text = readString(inner, "arguments", `${at}.function.arguments`);
  if (id === undefined || name === undefined || text === undefined) {
    throw badRequest(at, `${at} needs id, function.name and function.arguments.`);
  }
  return { id, name, arguments: text };
}

function parseAssistant(message: JsonFields, at: string, options: ContentOptions): ChatMessage {
  if (message.function_call !== undefined && message.function_call !== null) {
    throw badRequest(`${at}.function_call`, "function_call is not supported; use tool_calls.");
  }
  const calls = readArray(message, "tool_calls", `${at}.tool_calls`)?.map((call, i) =>
    parseToolCall(call, `${at}.tool_calls[${i}]`),
  );
  const reasoning =
    readString(message, "reasoning_content", `${at}.reasoning_content`) ??
    (typeof message.reasoning === "string" ? message.reasoning : undefined);
  const content = message.content ?? message.refusal ?? "";
  return {
    role: "assistant",
    content: parseContent(content, `${at}.content`, options),
    ...defined({ reasoning }),
    ...(calls && calls.length > 0 ? { toolCalls: calls } : {}),
  };
}

function parseMessage(message: unknown, at: string, options: ContentOptions): ChatMessage {
  if (!isJsonObject(message)) {
    throw badRequest(at, `${at} must be an object, but it is ${show(message)}.`);
  }
  const { role } = message;
  if (role === "assistant") return parseAssistant(message, at, options);
  const content = (): ChatMessage["content"] =>
    parseContent(message.content, `${at}.content`, options);
  if (role === "system" || role === "developer") return { role: "system", content: content() };
  if (role === "user") return { role, content: content() };
  if (role === "tool") {
    const toolCallId = readString(message, "tool_call_id", `${at}.tool_call_id`);
    if (toolCallId === undefined) {
      throw badRequest(`${at}.tool_call_id`, `${at}.tool_call_id is missing.`);
    }
    const name = readString(message, "name", `${at}.name`);
    return { role, content: content(), toolCallId, ...defined({ name }) };
  }
  throw badRequest(
    `${at}.role`,
    `${at}.role must be system, developer, user, assistant or tool, but it is ${show(role)}.`,
  );
}

function isSaid({ role, toolCalls }: ChatMessage): boolean {
  return role === "assistant" && !toolCalls;
}

function isCalled({ role, toolCalls, content }: ChatMessage): boolean {
  return role === "assistant" && toolCalls !== undefined && content === "";
}

/** @throws ApiError 400 naming the message. */
export function parseMessages(body: JsonFields, options: ContentOptions): readonly ChatMessage[] {
  const messages = readArray(body, "messages");
  if (!messages || messages.length === 0) {
    throw badRequest("messages", "messages must be a list of at least one message.");
  }
  const parsed: ChatMessage[] = [];
  for (const [i, message] of messages.entries()) {
    const next = parseMessage(message, `messages[${i}]`, options);
    const last = parsed.at(-1);
    // Some clients give one turn back as two messages: what was said, then what was called.
    if (last && isSaid(last) && isCalled(next)) {
      parsed[parsed.length - 1] = { ...next, ...last, toolCalls: next.toolCalls ?? [] };
    } else parsed.push(next);
  }
  return parsed;
}
