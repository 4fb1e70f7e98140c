/** Messages that are one, and calls with their results, in records that have them apart or without ids. */
import type { ChatMessage, ToolCall } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";

interface Read {
  readonly messages: readonly ChatMessage[];
  /** An item of OpenAI's Responses API: what a model says at once is several of them. */
  readonly isItem: boolean;
}

const isSilent = ({ content, toolCalls }: ChatMessage): boolean =>
  content === "" && toolCalls === undefined;

/** What an assistant thought, said and called in separate messages is one, as it is where it is sent back. */
function isMore(before: ChatMessage, next: ChatMessage, areItems: boolean): boolean {
  if (before.role !== "assistant" || next.role !== "assistant") return false;
  if (isSilent(before) || next.content === "") return true;
  return areItems && before.toolCalls === undefined;
}

function merged(before: ChatMessage, next: ChatMessage): ChatMessage {
  const reasoning = [before.reasoning, next.reasoning].filter((one) => one !== undefined);
  const toolCalls = [...(before.toolCalls ?? []), ...(next.toolCalls ?? [])];
  const said = [before.content, next.content].filter((one) => one !== "");
  return {
    role: "assistant",
    content: said.length < 2 ? (said[0] ?? "") : said.map((one) => messageText(one)).join(""),
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join("\n\n") }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

export function joined(read: readonly Read[]): readonly ChatMessage[] {
  const result: ChatMessage[] = [];
  let wasItem = false;
  for (const { messages, isItem } of read) {
    for (const message of messages) {
      const before = result.at(-1);
      if (before !== undefined && isMore(before, message, wasItem && isItem))
        result[result.length - 1] = merged(before, message);
      else result.push(message);
      wasItem = isItem;
    }
  }
  return result;
}

/** Ids for calls that have none, or the same. */
function withIds(calls: readonly ToolCall[]): readonly ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call, i) => {
    const isFree = call.id !== "" && !seen.has(call.id);
    const id = isFree ? call.id : `call_${i}`;
    seen.add(id);
    return { ...call, id };
  });
}

/** Results without an id are those of the calls before them, by name and order. */
export function paired(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  let open: ToolCall[] = [];
  return messages.map((message) => {
    if (message.role !== "tool") {
      const toolCalls = message.toolCalls === undefined ? undefined : withIds(message.toolCalls);
      open = [...(toolCalls ?? [])];
      return toolCalls === undefined ? message : { ...message, toolCalls };
    }
    const { toolCallId, name } = message;
    const isOf = (call: ToolCall): boolean =>
      toolCallId === undefined ? name === undefined || call.name === name : call.id === toolCallId;
    const at = open.findIndex(isOf);
    const [call] = at < 0 ? [] : open.splice(at, 1);
    return call === undefined ? message : { ...message, toolCallId: call.id };
  });
}
