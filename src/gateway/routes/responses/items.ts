/** Input items of OpenAI's Responses API to core messages. Items that belong to one turn become one message. */
import type { ChatMessage, ContentPart } from "../../../core/message.ts";
import { badRequest } from "../../http/api-error.ts";
import { asList, readArray, readString, show } from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import { toImagePart, unreadablePart, type ContentOptions } from "../fields/request-fields.ts";
import type { References } from "./references.ts";
import { TurnReader } from "./turn-reader.ts";

type Content = ChatMessage["content"];

function required(item: JsonFields, name: string, at: string): string {
  const value = readString(item, name, `${at}.${name}`);
  if (value !== undefined) return value;
  throw badRequest(`${at}.${name}`, `${at}.${name} is missing.`);
}

function parsePart(part: unknown, at: string, options: ContentOptions): ContentPart {
  if (!isJsonObject(part)) {
    throw badRequest(at, `${at} must be an object, but it is ${show(part)}.`);
  }
  const { type } = part;
  if (type === "input_text" || type === "output_text" || type === "text") {
    return { type: "text", text: required(part, "text", at) };
  }
  if (type === "refusal") return { type: "text", text: required(part, "refusal", at) };
  if (type !== "input_image") {
    throw unreadablePart(at, type, options, "input_text, output_text, refusal and input_image");
  }
  return toImagePart(readString(part, "image_url", `${at}.image_url`), at, options);
}

function parseContent(content: unknown, at: string, options: ContentOptions): Content {
  if (typeof content === "string") return content;
  const given = asList(content, at);
  if (!given) {
    throw badRequest(at, `${at} must be a string or a list of parts, but it is ${show(content)}.`);
  }
  const parts = given.map((part, i) => parsePart(part, `${at}[${i}]`, options));
  const [first] = parts;
  if (!first) return "";
  return parts.length === 1 && first.type === "text" ? first.text : parts;
}

function parseReasoning(item: JsonFields, at: string): string {
  const texts = [
    ...(readArray(item, "content", `${at}.content`) ?? []),
    ...(readArray(item, "summary", `${at}.summary`) ?? []),
  ];
  return texts
    .map((part) => (isJsonObject(part) && typeof part.text === "string" ? part.text : ""))
    .join("");
}

function parseMessage(
  item: JsonFields,
  at: string,
  options: ContentOptions,
  turns: TurnReader,
): void {
  const { role } = item;
  const content = parseContent(item.content, `${at}.content`, options);
  if (role === "assistant") turns.say(content);
  else if (role === "user") turns.add({ role, content });
  else if (role === "system" || role === "developer") turns.add({ role: "system", content });
  else {
    throw badRequest(
      `${at}.role`,
      `${at}.role must be system, developer, user or assistant, but it is ${show(role)}.`,
    );
  }
}

function parseItem(item: unknown, at: string, options: ContentOptions, turns: TurnReader): void {
  if (!isJsonObject(item)) {
    throw badRequest(at, `${at} must be an object, but it is ${show(item)}.`);
  }
  const type = item.type ?? "message";
  if (type === "message") parseMessage(item, at, options, turns);
  else if (type === "reasoning") turns.reason(parseReasoning(item, at));
  else if (type === "function_call") {
    turns.call({
      id: required(item, "call_id", at),
      name: required(item, "name", at),
      arguments: required(item, "arguments", at),
    });
  } else if (type === "function_call_output") {
    const toolCallId = required(item, "call_id", at);
    const content = parseContent(item.output, `${at}.output`, options);
    turns.add({ role: "tool", toolCallId, content });
  } else {
    throw badRequest(
      at,
      `${at} has the type ${show(type)}, which is not supported.`,
      "unsupported_content",
    );
  }
}

/** @throws ApiError 400 naming the item. */
export function parseInput(
  input: unknown,
  options: ContentOptions,
  references: References,
): readonly ChatMessage[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  const items = asList(input, "input");
  if (!items) {
    throw badRequest(
      "input",
      `input must be a string or a list of items, but it is ${show(input)}.`,
    );
  }
  const turns = new TurnReader();
  for (const [i, item] of items.entries()) {
    const at = `input[${i}]`;
    if (!references.read(item, at, turns)) parseItem(item, at, options, turns);
  }
  turns.flush();
  return turns.messages;
}
