/** Anthropic messages to core messages. What cannot be supported is refused by the place it stands at. */
import type { ChatMessage, ContentPart, ToolCall } from "../../../core/message.ts";
import { badRequest } from "../../http/api-error.ts";
import { asList, readArray, readObject, readString, show } from "../../http/json-fields.ts";
import { jsonText, readSources } from "../../http/json-source.ts";
import { messageText } from "../../../core/message-text.ts";
import { isJsonObject, listOf, type JsonFields } from "../../../util/json-object.ts";
import { toImagePart, unreadablePart, type ContentOptions } from "../fields/request-fields.ts";
import { unsupported } from "../fields/refusals.ts";
import { defined } from "../../../util/defined.ts";

type Content = ChatMessage["content"];

function readBlocks(content: unknown, at: string): readonly JsonFields[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const blocks = asList(content, at);
  if (!blocks) {
    throw badRequest(at, `${at} must be a string or a list of blocks, but it is ${show(content)}.`);
  }
  return blocks.map((block, i) => {
    if (isJsonObject(block)) return block;
    throw badRequest(`${at}[${i}]`, `${at}[${i}] must be an object, but it is ${show(block)}.`);
  });
}

function required(block: JsonFields, name: string, at: string): string {
  const value = readString(block, name, `${at}.${name}`);
  if (value !== undefined) return value;
  throw badRequest(`${at}.${name}`, `${at}.${name} is missing.`);
}

const known =
  "text, image and document; thinking and tool_use of an assistant, and tool_result of a user";

function parsePart(block: JsonFields, at: string, options: ContentOptions): ContentPart {
  if (block.type === "text") return { type: "text", text: required(block, "text", at) };
  if (block.type === "document") return parseDocument(block, at, options);
  if (block.type !== "image") throw unreadablePart(at, block.type, options, known);
  const source = readObject(block, "source", `${at}.source`) ?? {};
  const { type, media_type: mediaType, data, url } = source;
  const address = type === "base64" ? `data:${String(mediaType)};base64,${String(data)}` : url;
  return toImagePart(typeof address === "string" ? address : undefined, at, options);
}

/** A document that is text: its title, its context and its words, as one text. */
function parseDocument(block: JsonFields, at: string, options: ContentOptions): ContentPart {
  const place = `${at}.source`;
  const source = readObject(block, "source", place) ?? {};
  if (source.type !== "text" && source.type !== "content") {
    throw unsupported(
      `${place}.type`,
      source.type,
      'This model reads text only: send the words of the document, as "text".',
    );
  }
  if (isJsonObject(block.citations) && block.citations.enabled === true)
    throw unsupported(`${at}.citations`, block.citations);
  const words =
    source.type === "text"
      ? required(source, "data", place)
      : parseParts(source.content, `${place}.content`, { ...options, images: false });
  const title = readString(block, "title", `${at}.title`);
  const context = readString(block, "context", `${at}.context`);
  const all = [title, context, messageText(words, { image: "refuse" })];
  return { type: "text", text: all.filter((text) => text !== undefined).join("\n\n") };
}

function join(parts: readonly ContentPart[]): Content {
  const [first] = parts;
  if (!first) return "";
  return parts.length === 1 && first.type === "text" ? first.text : parts;
}

function parseParts(content: unknown, at: string, options: ContentOptions): Content {
  const blocks = readBlocks(content, at);
  return join(blocks.map((block, i) => parsePart(block, `${at}[${i}]`, options)));
}

function parseResult(block: JsonFields, at: string, options: ContentOptions): ChatMessage {
  const toolCallId = required(block, "tool_use_id", at);
  const content = parseParts(block.content ?? [], `${at}.content`, options);
  if (block.is_error !== true) return { role: "tool", toolCallId, content };
  // A model reads text only, so it has to be in words.
  const failed: Content =
    typeof content === "string"
      ? `Error: ${content}`
      : [{ type: "text", text: "Error: " }, ...content];
  return { role: "tool", toolCallId, content: failed };
}

/** Results of tools are separate messages, in the order of the blocks. */
function parseUser(content: unknown, at: string, options: ContentOptions): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let parts: ContentPart[] = [];
  const flush = (): void => {
    if (parts.length > 0) messages.push({ role: "user", content: join(parts) });
    parts = [];
  };
  for (const [i, block] of readBlocks(content, at).entries()) {
    const place = `${at}[${i}]`;
    if (block.type === "tool_result") {
      flush();
      messages.push(parseResult(block, place, options));
    } else parts.push(parsePart(block, place, options));
  }
  flush();
  if (messages.length > 0) return messages;
  throw badRequest(at, `${at} must hold at least one block.`);
}

function parseToolUse(block: JsonFields, at: string): ToolCall {
  const id = required(block, "id", at);
  const name = required(block, "name", at);
  return { id, name, arguments: jsonText(readObject(block, "input", `${at}.input`) ?? {}) };
}

function parseAssistant(content: unknown, at: string, options: ContentOptions): ChatMessage {
  const parts: ContentPart[] = [];
  const toolCalls: ToolCall[] = [];
  let reasoning: string | undefined;
  for (const [i, block] of readBlocks(content, at).entries()) {
    const place = `${at}[${i}]`;
    if (block.type === "tool_use") toolCalls.push(parseToolUse(block, place));
    else if (block.type === "thinking") {
      reasoning = (reasoning ?? "") + required(block, "thinking", place);
    } else if (block.type !== "redacted_thinking") parts.push(parsePart(block, place, options));
  }
  return {
    role: "assistant",
    content: join(parts),
    ...defined({ reasoning }),
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
  };
}

function parseMessage(message: unknown, at: string, options: ContentOptions): ChatMessage[] {
  if (!isJsonObject(message)) {
    throw badRequest(at, `${at} must be an object, but it is ${show(message)}.`);
  }
  const { role, content } = message;
  const place = `${at}.content`;
  if (role === "user") return parseUser(content, place, options);
  if (role === "assistant") return [parseAssistant(content, place, options)];
  if (role === "system") return [{ role, content: parseParts(content, place, options) }];
  throw badRequest(
    `${at}.role`,
    `${at}.role must be user, assistant or system, but it is ${show(role)}.`,
  );
}

/**
 * A line for the provider's records that Claude Code puts before its system prompt. It differs from request to
 * request, and a conversation that began with it could not be continued.
 */
const billing = /^x-anthropic-billing-header:[^\n]*\n*/u;

const isBilling = (block: unknown): boolean =>
  isJsonObject(block) && typeof block.text === "string" && billing.test(block.text);

/** Whether `system` has lines that are left out of the prompt. */
export const hasBillingLine = ({ system }: JsonFields): boolean =>
  typeof system === "string" ? billing.test(system) : listOf(system).some(isBilling);

/** What the model is to read of `system`. */
function systemOf(body: JsonFields): unknown {
  const { system } = body;
  if (!hasBillingLine(body)) return system;
  if (typeof system === "string") return system.replace(billing, "");
  const blocks = (system as readonly unknown[]).flatMap((block) => {
    if (!isBilling(block)) return [block];
    const { text, ...rest } = block as { readonly text: string };
    const kept = text.replace(billing, "");
    return kept === "" ? [] : [{ ...rest, text: kept }];
  });
  return blocks.length === 0 ? undefined : blocks;
}

/** @throws ApiError 400 naming the block. */
export function parseMessages(body: JsonFields, options: ContentOptions): readonly ChatMessage[] {
  const given = readArray(body, "messages");
  if (!given || given.length === 0) {
    throw badRequest("messages", "messages must be a list of at least one message.");
  }
  readSources(body, "messages");
  const system = systemOf(body);
  const hasSystem = system !== undefined && system !== null && system !== "";
  const messages = given.flatMap((message, i) => parseMessage(message, `messages[${i}]`, options));
  if (messages.at(-1)?.role === "assistant") {
    const at = `messages[${given.length - 1}]`;
    throw badRequest(
      at,
      `${at} is the assistant's: a prefix of the response is not supported. End with a user message.`,
      "unsupported_parameter",
    );
  }
  if (!hasSystem) return messages;
  return [{ role: "system", content: parseParts(system, "system", options) }, ...messages];
}
