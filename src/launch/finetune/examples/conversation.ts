/**
 * Rows of a file to conversations: OpenAI's chat messages with tools, and pairs of them in the formats of
 * OpenAI (`input`, `preferred_output`, `non_preferred_output`) and of TRL (`prompt`, `chosen`, `rejected`).
 */
import { AgentTrainerError } from "../../../core/errors.ts";
import type { ChatMessage, ToolDefinition } from "../../../core/message.ts";
import { show } from "../../../gateway/http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import { parseMessages } from "../../../gateway/routes/chat/messages.ts";
import { parseTools } from "../../../gateway/routes/chat/request.ts";
import { RowError } from "./row-error.ts";

/** A conversation, and which of its messages are trained on. */
export interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** [message] whether it is trained on. */
  readonly trained: readonly boolean[];
}

/** Two ways in which a conversation goes on. */
export interface Preference {
  readonly chosen: Conversation;
  readonly rejected: Conversation;
}

const textOnly = { images: false };

/** Data has calls without ids, and arguments as objects; both are unambiguous. */
function withCallIds(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const filled = message["role"] === "tool" ? { tool_call_id: "call", ...message } : message;
  const calls = message["tool_calls"];
  if (!Array.isArray(calls)) return filled;
  const toolCalls = calls.map((call: unknown, i) => {
    if (!isJsonObject(call) || !isJsonObject(call["function"])) return call;
    const { arguments: given } = call["function"];
    const text = isJsonObject(given) ? JSON.stringify(given) : given;
    return { id: `call_${i}`, ...call, function: { ...call["function"], arguments: text } };
  });
  return { ...filled, tool_calls: toolCalls };
}

/** OpenAI's `weight` of an assistant message: 0 is context. */
function isWeighted(message: unknown, at: string): boolean {
  const weight = isJsonObject(message) ? (message["weight"] ?? 1) : 1;
  if (weight === 0 || weight === 1) return weight === 1;
  throw new RowError(at, `weight must be 0 or 1, but it is ${show(weight)}.`);
}

/** What `parseMessages` lets pass, since servers do, but what no example should teach. */
function checkMessages(list: readonly unknown[], at: string): void {
  let calls = new Set<unknown>();
  for (const [i, message] of list.entries()) {
    if (!isJsonObject(message)) continue;
    const { role, content, tool_calls: toolCalls, tool_call_id: answered } = message;
    const made = Array.isArray(toolCalls) ? toolCalls.filter(isJsonObject) : [];
    if (role === "assistant") {
      const says = [
        content,
        message["refusal"],
        message["reasoning_content"],
        message["reasoning"],
      ];
      const isEmpty = says.every((text) => (text ?? null) === null);
      if (isEmpty && made.length === 0)
        throw new RowError(at, `messages[${i}] has neither content nor tool_calls.`);
      for (const [k, call] of made.entries())
        checkArguments(call, `messages[${i}].tool_calls[${k}]`, at);
      calls = new Set(made.map(({ id }) => id));
    }
    if (role !== "tool") continue;
    if (calls.size === 0)
      throw new RowError(at, `messages[${i}] is the result of a tool, but no tool was called.`);
    if (answered !== undefined && !calls.has(undefined) && !calls.has(answered)) {
      throw new RowError(
        at,
        `messages[${i}].tool_call_id is ${show(answered)}, but the calls before it are ${[...calls].map(show).join(", ")}.`,
      );
    }
  }
}

/** A model that learned other arguments would make calls that nothing can execute. */
function checkArguments(call: JsonFields, name: string, at: string): void {
  const given = isJsonObject(call["function"]) ? call["function"]["arguments"] : undefined;
  if (typeof given !== "string") return;
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    value = undefined;
  }
  if (!isJsonObject(value))
    throw new RowError(at, `${name}.function.arguments is not a JSON object: ${show(given)}.`);
}

interface MessageList {
  readonly list: readonly unknown[];
  /** The first message that may be trained on. */
  readonly from: number;
}

function readConversation(
  { list, from }: MessageList,
  tools: readonly ToolDefinition[],
  trainOn: "all" | "last",
  at: string,
): Conversation {
  const messages = parseMessages({ messages: list.map(withCallIds) }, textOnly);
  checkMessages(list, at);
  const weights = list.map((message) => isWeighted(message, at));
  const isMerged = messages.length !== list.length;
  if (isMerged && (weights.includes(false) || from > 0)) {
    throw new RowError(
      at,
      "what an assistant says and calls in one turn must be one message where weight or prompt is used.",
    );
  }
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const trained = messages.map(
    ({ role }, i) =>
      role === "assistant" &&
      i >= from &&
      (trainOn === "all" || i === last) &&
      (isMerged || weights[i] === true),
  );
  if (!trained.includes(true)) throw new RowError(at, "there is no assistant message to train on.");
  return { messages, tools, trained };
}

/** Runs `read`; what it refuses names the row. */
function inRow<T>(at: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RowError || !AgentTrainerError.isInstance(error)) throw error;
    throw new RowError(at, error.message, undefined, error);
  }
}

function fieldsOf(row: unknown, at: string): JsonFields {
  if (isJsonObject(row)) return row;
  throw new RowError(at, `a row must be a JSON object, but it is ${show(row)}.`);
}

/** A list of messages, or a text by `role`. */
function messagesOf(value: unknown, name: string, role: string, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[];
  if (typeof value === "string") return [{ role, content: value }];
  throw new RowError(at, `${name} must be a list of messages or a text, but it is ${show(value)}.`);
}

/** `{messages, tools}`, or `{prompt, completion, tools}`, of which only the completion is trained on. */
export function parseConversation(
  row: unknown,
  at: string,
  trainOn: "all" | "last" = "all",
): Conversation {
  const fields = fieldsOf(row, at);
  return inRow(at, () => {
    const tools = parseTools(fields);
    if (fields["messages"] !== undefined) {
      const list = messagesOf(fields["messages"], "messages", "user", at);
      return readConversation({ list, from: 0 }, tools, trainOn, at);
    }
    if (fields["prompt"] === undefined || fields["completion"] === undefined) {
      throw new RowError(
        at,
        `a row needs messages, or prompt and completion, but it has ${listed(fields)}.`,
      );
    }
    const prompt = messagesOf(fields["prompt"], "prompt", "user", at);
    const completion = messagesOf(fields["completion"], "completion", "assistant", at);
    const list = { list: [...prompt, ...completion], from: prompt.length };
    return readConversation(list, tools, trainOn, at);
  });
}

const listed = (fields: JsonFields): string => Object.keys(fields).join(", ") || "nothing";

/** How many messages two conversations begin with in common. */
function commonMessages(a: readonly unknown[], b: readonly unknown[]): number {
  let count = 0;
  while (count < a.length && JSON.stringify(a[count]) === JSON.stringify(b[count])) count++;
  return count;
}

/** A pair in OpenAI's or TRL's format; without a prompt, what both conversations begin with is the prompt. */
export function parsePreference(row: unknown, at: string): Preference {
  const fields = fieldsOf(row, at);
  return inRow(at, () => {
    const { input } = fields;
    const isOpenAi = isJsonObject(input);
    const source = isOpenAi ? input : fields;
    const tools = parseTools(source);
    const [chosenName, rejectedName, promptName] = isOpenAi
      ? ["preferred_output", "non_preferred_output", "messages"]
      : ["chosen", "rejected", "prompt"];
    const both = [chosenName, rejectedName].map((name) => {
      if (fields[name] !== undefined) return messagesOf(fields[name], name, "assistant", at);
      throw new RowError(
        at,
        `a pair needs prompt, chosen and rejected, or input, preferred_output and non_preferred_output, but it has ${listed(fields)}.`,
      );
    });
    const [chosen, rejected] = both as [readonly unknown[], readonly unknown[]];
    const given = source[promptName];
    const prompt = given === undefined ? [] : messagesOf(given, promptName, "user", at);
    const shared = given === undefined ? commonMessages(chosen, rejected) : prompt.length;
    if (shared === 0) throw new RowError(at, "a pair needs a prompt that both responses follow.");
    if (given === undefined && shared === Math.min(chosen.length, rejected.length)) {
      throw new RowError(at, "chosen and rejected must differ in their last messages.");
    }
    if (JSON.stringify(chosen) === JSON.stringify(rejected))
      throw new RowError(at, `${chosenName} and ${rejectedName} are the same.`);
    const conversation = (response: readonly unknown[]): Conversation =>
      readConversation({ list: [...prompt, ...response], from: shared }, tools, "all", at);
    return { chosen: conversation(chosen), rejected: conversation(rejected) };
  });
}
