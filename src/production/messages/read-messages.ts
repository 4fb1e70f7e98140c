/** Messages of a conversation in whatever form a program recorded them, and what of them is lost. */
import type { Damage } from "../../core/completeness.ts";
import type { ChatMessage, ContentPart, Role } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import { defined } from "../../util/defined.ts";
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { isCutJson } from "./cut-json.ts";
import { parseValue } from "./exact-values.ts";
import { joined, paired } from "./join-messages.ts";
import {
  addContent,
  addPart,
  asText,
  isMasked,
  isPiece,
  mergeCalls,
  noParts,
  type Parts,
  stringOf,
} from "./read-parts.ts";

const roles: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  ai: "assistant",
  model: "assistant",
  chatbot: "assistant",
  tool: "tool",
  function: "tool",
};

/** Of LangChain's classes. */
const classes: Readonly<Record<string, Role>> = {
  SystemMessage: "system",
  HumanMessage: "user",
  AIMessage: "assistant",
  ToolMessage: "tool",
  FunctionMessage: "tool",
};

function roleOf(name: unknown): Role | undefined {
  if (typeof name !== "string") return undefined;
  const [known, ofClass] = [name.toLowerCase(), name.replace(/Chunk$/u, "")];
  if (Object.hasOwn(roles, known)) return roles[known];
  return Object.hasOwn(classes, ofClass) ? classes[ofClass] : undefined;
}

/** A message of LangChain as one of OpenAI: serialized (`lc`), or with its fields in `data`. */
function ofLangChain(given: JsonFields): JsonFields {
  const { id, kwargs, data, type } = given;
  if (Array.isArray(id) && isJsonObject(kwargs))
    return { ...kwargs, role: kwargs["role"] ?? roleOf(id.at(-1)) };
  if (isJsonObject(data) && roleOf(type) !== undefined) return { ...data, role: type };
  return given["role"] === undefined && roleOf(type) !== undefined
    ? { ...given, role: type }
    : given;
}

/** The name under which OpenInference has a message. */
const unwrapped = (given: JsonFields): JsonFields =>
  isJsonObject(given["message"]) && given["role"] === undefined ? given["message"] : given;

/** LangChain takes a role with a text for a message, too. */
const isTuple = (value: unknown): value is readonly [string, string] =>
  Array.isArray(value) &&
  value.length === 2 &&
  roleOf(value[0]) !== undefined &&
  typeof value[1] === "string";

function isMessage(value: unknown): boolean {
  if (!isJsonObject(value)) return isTuple(value);
  const given = ofLangChain(unwrapped(value));
  const says = saidFields.some((name) => name in given);
  return isPiece(given) || (says && roleOf(given["role"]) !== undefined);
}

const saidFields = ["content", "contents", "parts", "tool_calls", "toolCalls", "function_call"];

/** A message, or a list with one: what else is JSON is a text that says so. */
export const isConversation = (value: unknown): boolean =>
  Array.isArray(value)
    ? (value as unknown[]).some(
        (one) => isMessage(one) || (Array.isArray(one) && one.some((own) => isMessage(own))),
      )
    : isMessage(value);

/** Text alone as text. */
function contentOf(content: readonly ContentPart[]): string | readonly ContentPart[] {
  return content.every(({ type }) => type === "text") ? messageText(content) : content;
}

function messageOf(role: Role, { content, reasoning, toolCalls }: Parts): ChatMessage {
  const isOwn = role === "assistant";
  return {
    role,
    content: contentOf(content),
    ...(reasoning.length === 0 || !isOwn ? {} : { reasoning: reasoning.join("") }),
    ...(toolCalls.length === 0 || !isOwn ? {} : { toolCalls }),
  };
}

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const resultMessages = ({ results }: Parts): ChatMessage[] =>
  results.map(({ callId, name, content }) => ({
    role: "tool",
    content: contentOf(content),
    ...defined({ toolCallId: callId ?? undefined, name: name ?? undefined }),
  }));

/** Items of OpenAI's Responses API have no role: calls of tools, their results, reasoning. */
function ofItem(given: JsonFields, damage: Set<Damage>): ChatMessage[] {
  const parts = noParts(damage);
  if (given["type"] === "reasoning") {
    addContent(parts, given["summary"] ?? given["content"]);
    const texts = parts.content.map((part) => messageText([part]));
    if (texts.length === 0) return [];
    return [{ role: "assistant", content: "", reasoning: texts.join("\n\n") }];
  }
  addPart(parts, given);
  const said = parts.content.length + parts.toolCalls.length + parts.reasoning.length > 0;
  return [...resultMessages(parts), ...(said ? [messageOf("assistant", parts)] : [])];
}

function addFields(parts: Parts, given: JsonFields): void {
  addContent(parts, given["parts"] ?? given["contents"] ?? given["content"]);
  if (parts.content.length === 0) addContent(parts, given["refusal"]);
  const more = isJsonObject(given["additional_kwargs"]) ? given["additional_kwargs"] : {};
  const thought = [given, more]
    .flatMap((from) => [stringOf(from["reasoning_content"]), stringOf(from["reasoning"])])
    .find((one) => one !== null && one !== "");
  if (thought !== undefined && parts.reasoning.length === 0) parts.reasoning.push(thought!);
  const calls = noParts(parts.damage);
  const lists = [given["tool_calls"], given["toolCalls"], more["tool_calls"]].map(listIn);
  for (const call of lists.find(({ length }) => length > 0) ?? [])
    addPart(calls, isJsonObject(call) ? { ...call, type: "tool_call" } : call);
  for (const call of [given["function_call"], more["function_call"]])
    if (isJsonObject(call)) addPart(calls, { ...call, type: "function_call" });
  mergeCalls(parts, calls.toolCalls);
  // LangChain has there what was not JSON.
  if (listIn(given["invalid_tool_calls"]).length > 0) parts.damage.add("lost arguments");
}

const hasText = (given: JsonFields): boolean =>
  ["parts", "contents", "content"].some((name) => (given[name] ?? null) !== null);

function readMessage(value: unknown, damage: Set<Damage>): ChatMessage[] {
  if (isMasked(value)) damage.add("missing text");
  if (typeof value === "string") return [{ role: "user", content: value }];
  if (isTuple(value)) return [{ role: roleOf(value[0])!, content: value[1] }];
  if (value === undefined || value === null) damage.add("missing messages");
  else if (!isJsonObject(value)) damage.add("unknown item");
  if (!isJsonObject(value)) return [];
  const given = ofLangChain(unwrapped(value));
  const role = roleOf(given["role"]);
  if (role === undefined && given["role"] === undefined && typeof given["type"] === "string")
    return ofItem(given, damage);
  if (role === undefined) {
    damage.add("unknown item");
    return [];
  }
  const parts = noParts(damage);
  addFields(parts, given);
  if (role === "assistant") {
    const isSilent = parts.content.length + parts.toolCalls.length + parts.reasoning.length === 0;
    const called = [...listIn(given["tool_calls"]), ...listIn(given["invalid_tool_calls"])];
    if (isSilent && !hasText(given) && called.length === 0) damage.add("missing text");
    return [...resultMessages(parts), messageOf(role, parts)];
  }
  if (role === "tool") return toolMessages(parts, given);
  // Anthropic and Google have results in messages of the user.
  const said = parts.content.length > 0 || parts.results.length === 0;
  if (said && !hasText(given)) damage.add("missing text");
  return [...resultMessages(parts), ...(said ? [messageOf(role, parts)] : [])];
}

function toolMessages(parts: Parts, given: JsonFields): ChatMessage[] {
  if (parts.results.length > 0) return resultMessages(parts);
  // Only what was approved, say: its result is another message.
  if (parts.content.length === 0 && listIn(given["content"]).length > 0) return [];
  if (!hasText(given)) {
    parts.damage.add("missing tool result");
    return [];
  }
  const callId = stringOf(given["tool_call_id"] ?? given["toolCallId"] ?? given["id"]);
  return [
    {
      role: "tool",
      content: contentOf(parts.content),
      ...defined({
        toolCallId: callId ?? undefined,
        name: stringOf(given["name"]) ?? undefined,
      }),
    },
  ];
}

/** JSON where it is some, else the text itself. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"]/u.test(value)) return value;
  try {
    return parseValue(value);
  } catch {
    return value;
  }
}

/**
 * What an attribute says that has JSON by its convention, or a field that may have it. Text that begins like JSON and
 * ends early was cut.
 */
export function opened(value: unknown, damage: Set<Damage>): unknown {
  if (typeof value === "string" && isCutJson(value)) damage.add("attribute limit");
  return parsed(value);
}

/** The conversation before a response, and what of it is lost. */
export interface ReadMessages {
  readonly messages: readonly ChatMessage[];
  readonly damage: ReadonlySet<Damage>;
}

/** The list of messages in a request to any service, with its instructions first. */
function ofRequest(given: JsonFields, damage: Set<Damage>): readonly unknown[] | null {
  const body = opened(given["messages"] ?? given["contents"] ?? given["input"], damage);
  const isGoogle = Array.isArray(body) && given["messages"] === undefined && "contents" in given;
  // Google's first message may have no role.
  const list = isGoogle
    ? body.map((one: unknown) => (isJsonObject(one) ? { role: "user", ...one } : one))
    : typeof body === "string"
      ? [body]
      : body;
  if (!Array.isArray(list) && typeof given["prompt"] === "string") return [given["prompt"]];
  if (!Array.isArray(list) || given["role"] !== undefined) return null;
  const isKept = given["messages"] === undefined && given["contents"] === undefined;
  for (const name of ["previous_response_id", "conversation"])
    if (isKept && (given[name] ?? null) !== null) damage.add("missing messages");
  const config = isJsonObject(given["config"]) ? given["config"] : {};
  const system = [
    ...[given["system"], given["instructions"]],
    ...[given["systemInstruction"], given["system_instruction"], config["systemInstruction"]],
  ].find((one) => (one ?? "") !== "");
  if (system === undefined) return list as unknown[];
  const said = isJsonObject(system) ? (system["parts"] ?? system) : system;
  return [{ role: "system", content: said }, ...(list as unknown[])];
}

/** LangChain has a list of messages for each of several prompts. */
function ofBatch(list: readonly unknown[], damage: Set<Damage>): readonly unknown[] {
  const isBatch = list.length > 0 && list.every((one) => Array.isArray(one) && !isTuple(one));
  if (!isBatch) return list;
  if (list.length > 1) damage.add("several answers");
  return list[0] as readonly unknown[];
}

function listOf(value: unknown, damage: Set<Damage>): readonly unknown[] {
  const given = opened(value, damage);
  if (given === undefined || given === null || given === "") return [];
  if (isJsonObject(given)) {
    const inRequest = ofRequest(given, damage);
    if (inRequest !== null) return ofBatch(inRequest, damage);
    if (isConversation(given)) return [given];
    if (Object.keys(given).length === 0) return [];
    if (typeof value !== "string") damage.add("unknown item");
    return [typeof value === "string" ? value : asText(given)];
  }
  if (!Array.isArray(given)) return [typeof given === "string" ? given : asText(value)];
  // A user may have written a list.
  const isText = typeof value === "string" && !isConversation(given);
  return isText && given.length > 0 ? [value] : ofBatch(given as unknown[], damage);
}

/** Reads what it can; text that is no conversation is a message of the user. */
export function readMessages(...values: readonly unknown[]): ReadMessages {
  const damage = new Set<Damage>();
  const list = values.flatMap((value) => listOf(value, damage));
  const messages = list.map((one) => ({
    messages: readMessage(one, damage),
    isItem:
      isJsonObject(one) && typeof one["type"] === "string" && roleOf(one["type"]) === undefined,
  }));
  return { messages: paired(joined(messages)), damage };
}
