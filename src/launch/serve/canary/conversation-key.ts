/** What makes calls belong together, so that a conversation stays with one version. */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import type { ModelRequest } from "../model-request.ts";

/** Names the conversation of a request. */
const conversationHeader = "x-conversation-id";

export interface ConversationKey {
  /** Equal for the calls that stay together. */
  readonly key: string;
  /** As the client named it. */
  readonly conversationId?: string;
  readonly user?: string;
}

/** As long as feedback may name. */
const maxChars = 512;

function textOf(value: unknown): string | undefined {
  const text = isJsonObject(value) ? value["id"] : value;
  return typeof text === "string" && text !== "" && text.length <= maxChars ? text : undefined;
}

/** Everything up to the first message of the user: later turns of a conversation have it, too. */
function openingOf(fields: JsonFields): string {
  const { messages, input, prompt, system, instructions } = fields;
  const turns = messages ?? input ?? prompt;
  if (!Array.isArray(turns)) return JSON.stringify([system, instructions, turns]);
  const end = turns.findIndex((turn) => isJsonObject(turn) && turn["role"] === "user");
  return JSON.stringify([system, instructions, turns.slice(0, end + 1)]);
}

/**
 * In this order: the header `x-conversation-id`, `conversation` or `metadata.conversation_id` of the body, the user
 * (`user`, `safety_identifier`, `metadata.user_id`), and what the conversation begins with.
 */
export function conversationKey({
  fields,
  headers,
}: Pick<ModelRequest, "fields" | "headers">): ConversationKey {
  const metadata = isJsonObject(fields["metadata"]) ? fields["metadata"] : {};
  const conversationId =
    textOf(headers.get(conversationHeader)) ??
    textOf(fields["conversation"]) ??
    textOf(metadata["conversation_id"]);
  const user =
    textOf(fields["user"]) ?? textOf(fields["safety_identifier"]) ?? textOf(metadata["user_id"]);
  const named = { ...(conversationId && { conversationId }), ...(user && { user }) };
  if (conversationId !== undefined) return { key: `conversation ${conversationId}`, ...named };
  if (user !== undefined) return { key: `user ${user}`, ...named };
  return { key: `opening ${openingOf(fields)}` };
}

/** Whether a key is among the share of all keys that try this version. */
export function isChosen(key: string, version: string, share: number): boolean {
  const hash = createHash("sha256").update(`${version}\n${key}`).digest();
  return hash.readUInt32BE(0) / 2 ** 32 < share;
}
