/** Messages of a conversation in whatever form a program recorded them. Text may be JSON of them. */
import type { ChatMessage, ContentPart, Role } from "../../core/message.ts";
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { addContent, addPart, asText, noParts, type Parts, stringOf } from "./read-parts.ts";

const roles: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  ai: "assistant",
  model: "assistant",
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

const roleOf = (name: unknown): Role | undefined =>
  typeof name === "string" && Object.hasOwn(roles, name) ? roles[name] : undefined;

/** A message of LangChain as one of OpenAI: serialized (`lc`), or with its fields in `data`. */
function ofLangChain(given: JsonFields): JsonFields {
  const { id, kwargs, data, type } = given;
  if (Array.isArray(id) && isJsonObject(kwargs)) {
    const name = String(id.at(-1)).replace(/Chunk$/u, "");
    return { ...kwargs, role: kwargs["role"] ?? classes[name] };
  }
  if (isJsonObject(data) && roleOf(type) !== undefined) return { ...data, role: type };
  return given["role"] === undefined && roleOf(type) !== undefined
    ? { ...given, role: type }
    : given;
}

/** Text alone as text. */
function contentOf(content: readonly ContentPart[]): string | readonly ContentPart[] {
  const texts = content.map((part) => (part.type === "text" ? part.text : null));
  return texts.includes(null) ? content : texts.join("\n");
}

function messageOf(role: Role, { content, reasoning, toolCalls }: Parts): ChatMessage {
  return {
    role,
    content: contentOf(content),
    ...(reasoning.length === 0 || role !== "assistant" ? {} : { reasoning: reasoning.join("\n") }),
    ...(toolCalls.length === 0 || role !== "assistant" ? {} : { toolCalls }),
  };
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Items of OpenAI's Responses API have no role: calls of tools, their results, reasoning. */
function ofItem(given: JsonFields): ChatMessage[] {
  const parts = noParts();
  if (given["type"] === "reasoning") addContent(parts, listIn(given["summary"]));
  else addPart(parts, given);
  if (given["type"] === "reasoning") {
    const reasoning = contentOf(parts.content.splice(0));
    return [{ role: "assistant", content: "", reasoning: asText(reasoning) }];
  }
  return parts.results.length > 0 ? resultMessages(parts) : [messageOf("assistant", parts)];
}

const resultMessages = ({ results }: Parts): ChatMessage[] =>
  results.map(({ callId, name, text }) => ({
    role: "tool",
    content: text,
    ...(callId === null ? {} : { toolCallId: callId }),
    ...(name === null ? {} : { name }),
  }));

/** The name under which OpenInference has a message. */
const unwrapped = (given: JsonFields): JsonFields =>
  isJsonObject(given["message"]) && given["role"] === undefined ? given["message"] : given;

function readMessage(value: unknown): ChatMessage[] {
  if (typeof value === "string") return [{ role: "user", content: value }];
  if (!isJsonObject(value)) throw new Error("a message is not an object");
  const given = ofLangChain(unwrapped(value));
  const role = roleOf(given["role"]);
  if (role === undefined) {
    if (given["role"] === undefined && typeof given["type"] === "string") return ofItem(given);
    throw new Error(`a message has the role ${asText(given["role"]).slice(0, 40) || "none"}`);
  }
  const parts = noParts();
  addContent(parts, given["parts"] ?? given["contents"] ?? given["content"]);
  const thought = stringOf(given["reasoning_content"]) ?? stringOf(given["reasoning"]);
  if (thought !== null) parts.reasoning.push(thought);
  const more = isJsonObject(given["additional_kwargs"]) ? given["additional_kwargs"] : {};
  const calls = [given["tool_calls"], given["toolCalls"], more["tool_calls"]].map(listIn);
  if (parts.toolCalls.length === 0) {
    for (const call of calls.find(({ length }) => length > 0) ?? [])
      addPart(parts, isJsonObject(call) ? { ...call, type: "tool_call" } : call);
  }
  if (isJsonObject(given["function_call"]))
    addPart(parts, { ...given["function_call"], type: "function_call" });
  if (role !== "tool") {
    // Anthropic and Google have results in messages of the user.
    const said = parts.content.length > 0 || parts.results.length === 0;
    return [...resultMessages(parts), ...(said ? [messageOf(role, parts)] : [])];
  }
  if (parts.results.length > 0) return resultMessages(parts);
  const callId = stringOf(given["tool_call_id"] ?? given["toolCallId"] ?? given["id"]);
  const name = stringOf(given["name"]);
  return [
    {
      role,
      content: contentOf(parts.content),
      ...(callId === null ? {} : { toolCallId: callId }),
      ...(name === null ? {} : { name }),
    },
  ];
}

/** JSON where it is some, else the text itself. */
export function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"]/u.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** What an assistant thought, said and called in separate items is one message. */
function joined(messages: readonly ChatMessage[]): ChatMessage[] {
  const result: ChatMessage[] = [];
  for (const message of messages) {
    const before = result.at(-1);
    const isMore = before?.role === "assistant" && message.role === "assistant";
    if (!isMore || (before.toolCalls !== undefined && message.content !== "")) {
      result.push(message);
      continue;
    }
    const reasoning = [before.reasoning, message.reasoning].filter((one) => one !== undefined);
    const toolCalls = [...(before.toolCalls ?? []), ...(message.toolCalls ?? [])];
    const said = [before.content, message.content].filter((one) => one !== "");
    result[result.length - 1] = {
      role: "assistant",
      content: said.length < 2 ? (said[0] ?? "") : said.map(asText).join("\n"),
      ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join("\n") }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
    };
  }
  return result;
}

/** @throws Error with the reason, for what is no message. */
export function readMessages(value: unknown): readonly ChatMessage[] {
  const given = parsed(value);
  if (given === undefined || given === null || given === "") return [];
  // A prompt with its system text next to it, or a list below a name.
  if (isJsonObject(given) && given["messages"] !== undefined) {
    const { system } = given;
    const first = system === undefined ? [] : [{ role: "system", content: system }];
    return joined([...first, ...listIn(parsed(given["messages"]))].flatMap(readMessage));
  }
  if (isJsonObject(given) && typeof given["prompt"] === "string" && given["role"] === undefined)
    return readMessages(given["prompt"]);
  const list = Array.isArray(given) ? (given as unknown[]).flat() : [given];
  return joined(list.flatMap(readMessage));
}

/** The response of a model: one message of the assistant. @throws Error where it is not */
export function readResponse(value: unknown): ChatMessage | null {
  const given = parsed(value);
  if (typeof given === "string") return given === "" ? null : { role: "assistant", content: given };
  const choice = isJsonObject(given) ? (given["choices"] ?? given["output"] ?? given) : given;
  const [first] =
    Array.isArray(choice) && isJsonObject(choice[0]) && "message" in choice[0] ? choice : [];
  const messages = readMessages(first ?? withRole(choice));
  if (messages.length === 0) return null;
  const message = messages.find(({ role }) => role === "assistant") ?? null;
  if (message === null) throw new Error("the response is no message of an assistant");
  return message;
}

/** Some record a response without its role. */
function withRole(given: unknown): unknown {
  const isBare = isJsonObject(given) && given["role"] === undefined && given["type"] === undefined;
  return isBare && ("content" in given || "tool_calls" in given || "parts" in given)
    ? { ...given, role: "assistant" }
    : given;
}
