/**
 * Token truth: finds the earlier call that a new request continues, so that its prompt can be built
 * from the ids that were sampled. A tree: every finished call stays, so branches and parallel
 * conversations do not disturb each other. Knows messages and ids, not HTTP or sampling.
 */
import { hash } from "node:crypto";
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import { addTo } from "../../util/group-by.ts";
import { isJsonObject } from "../../util/json-object.ts";
import { messageText } from "../../core/message-text.ts";

/** One finished choice of one call. */
export interface ConversationNode {
  readonly traceId: string;
  readonly trajectoryUid: string | null;
  /** The assistant message that the client received. */
  readonly response: ChatMessage;
  /** Prompt and response, id by id. */
  readonly tokens: Int32Array;
}

export interface ConversationMatch {
  readonly node: ConversationNode;
  /** How many messages of the request the node covers. */
  readonly covered: number;
}

/** Digests of a request's messages: entry i covers the tools and the first i messages. */
export type MessageChain = readonly string[];

interface Entry extends ConversationNode {
  /** Times that this one was matched. */
  continuations: number;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}

/**
 * The same text for JSON that says the same: spaces, escapes, the order of keys and the notation of numbers do not
 * matter, nor digits beyond a double's, which clients in JavaScript lose. No arguments are an empty object. Other
 * text as it is.
 */
function canonicalJson(text: string): string {
  if (text.trim() === "") return "{}";
  try {
    return JSON.stringify(sorted(JSON.parse(text) ?? {}));
  } catch {
    return text;
  }
}

/** Whether UTF-8 has it. Node 20 can say, but the types of ES2023 do not know that. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}

function link(previous: string, message: ChatMessage): string {
  const calls = message.toolCalls ?? [];
  // Ids of an assistant's calls are not compared, because some clients make new ones; so are reasoning and
  // names, which clients drop. Arguments are compared as JSON: SDKs parse them and write them anew.
  const text = messageText(message.content, { image: "url" });
  const parts = [
    previous,
    message.role,
    text.length,
    message.toolCallId ?? "",
    ...calls.flatMap((call) => [call.name, canonicalJson(call.arguments)]),
  ];
  // As it is: a long text would have to be copied to be escaped. Half surrogate pairs have no bytes.
  const exact = isWellFormed(text) ? text : JSON.stringify(text);
  return hash("sha1", JSON.stringify(parts) + exact, "base64");
}

/** @see MessageChain */
export function chainMessages(
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
): MessageChain {
  let last = tools.length === 0 ? "" : JSON.stringify(tools);
  const chain = [last];
  for (const message of messages) {
    last = link(last, message);
    chain.push(last);
  }
  return chain;
}

function sameCallIds(message: ChatMessage | undefined, response: ChatMessage): boolean {
  const calls = response.toolCalls ?? [];
  return calls.every((call, i) => message?.toolCalls?.[i]?.id === call.id);
}

/** The finished calls of one session. */
export class Conversation {
  readonly #entries = new Map<string, Entry[]>();

  /** The longest earlier call that the request begins with and adds messages to. */
  match(
    messages: readonly ChatMessage[],
    chain: MessageChain,
    trajectoryUid: string | null,
  ): ConversationMatch | null {
    for (let covered = messages.length - 1; covered > 0; covered--) {
      const entries = this.#entries.get(chain[covered] as string);
      if (!entries) continue;
      // Same text, other tokens: only hints show which one is meant.
      const preference = (entry: Entry): number =>
        (sameCallIds(messages[covered - 1], entry.response) ? 4 : 0) +
        (entry.trajectoryUid === trajectoryUid ? 2 : 0) +
        (entry.continuations === 0 ? 1 : 0);
      let node = entries[0] as Entry;
      for (const entry of entries) if (preference(entry) > preference(node)) node = entry;
      node.continuations++;
      return { node, covered };
    }
    return null;
  }

  /** `chain` is that of the request whose response is `node`. */
  add(chain: MessageChain, node: ConversationNode): void {
    const last = chain.at(-1) as string;
    const entry: Entry = { ...node, continuations: 0 };
    const { response } = node;
    const keys = new Set([link(last, response)]);
    // Some clients drop what was said before a tool call.
    if (response.toolCalls) keys.add(link(last, { ...response, content: "" }));
    for (const key of keys) addTo(this.#entries, key, entry);
  }
}

/** Identifies a prompt by its tokens. */
export function promptKey({ buffer, byteOffset, byteLength }: Int32Array): string {
  return hash("sha1", new Uint8Array(buffer, byteOffset, byteLength), "base64url");
}
