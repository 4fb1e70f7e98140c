/** Messages that are one, and calls with their results, in records that have them apart or without ids. */
import type { ChatMessage, ToolCall } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";

interface Read {
  readonly messages: readonly ChatMessage[];
  /** An item of OpenAI's Responses API: what a model says at once is several of them. */
  readonly isItem: boolean;
}

/** Messages that are one. */
interface Group {
  readonly messages: ChatMessage[];
  readonly isItem: boolean;
  hasText: boolean;
  hasCalls: boolean;
}

/** What an assistant thought, said and called in separate messages is one, as it is where it is sent back. */
function isMore(group: Group, { role, content }: ChatMessage, isItem: boolean): boolean {
  if (group.messages[0]!.role !== "assistant" || role !== "assistant") return false;
  if (content === "" || (!group.hasText && !group.hasCalls)) return true;
  return group.isItem && isItem && !group.hasCalls;
}

function merged(messages: readonly ChatMessage[]): ChatMessage {
  const [only] = messages as readonly [ChatMessage];
  if (messages.length === 1) return only;
  const reasoning = messages.flatMap((one) => one.reasoning ?? []);
  const toolCalls = messages.flatMap((one) => one.toolCalls ?? []);
  const said = messages.map(({ content }) => content).filter((content) => content !== "");
  return {
    role: "assistant",
    content: said.length < 2 ? (said[0] ?? "") : said.map((one) => messageText(one)).join(""),
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join("\n\n") }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

export function joined(read: readonly Read[]): readonly ChatMessage[] {
  const groups: Group[] = [];
  for (const { messages, isItem } of read) {
    for (const message of messages) {
      let group = groups.at(-1);
      if (group === undefined || !isMore(group, message, isItem)) {
        group = { messages: [], isItem, hasText: false, hasCalls: false };
        groups.push(group);
      }
      group.messages.push(message);
      group.hasText ||= message.content !== "";
      group.hasCalls ||= message.toolCalls !== undefined;
    }
  }
  return groups.map((group) => merged(group.messages));
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

/** Calls among which that of a result without an id is looked for by its name. */
const mostLooked = 100;

/** The call that a result is of, among those without one yet. */
function callOf(open: ReadonlyMap<string, ToolCall>, result: ChatMessage): ToolCall | undefined {
  const { toolCallId, name } = result;
  if (toolCallId !== undefined) return open.get(toolCallId);
  let looked = 0;
  for (const call of open.values()) {
    if (name === undefined || call.name === name) return call;
    if (++looked === mostLooked) return undefined;
  }
  return undefined;
}

/** Results without an id are those of the calls before them, by name and order. */
export function paired(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  let open = new Map<string, ToolCall>();
  return messages.map((message) => {
    if (message.role !== "tool") {
      const toolCalls = message.toolCalls === undefined ? undefined : withIds(message.toolCalls);
      open = new Map(toolCalls?.map((call) => [call.id, call]));
      return toolCalls === undefined ? message : { ...message, toolCalls };
    }
    const call = callOf(open, message);
    if (call === undefined) return message;
    open.delete(call.id);
    return { ...message, toolCallId: call.id };
  });
}
