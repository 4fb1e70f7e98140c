/**
 * `POST .../v1/conversations`, and the `conversation` of a response: what came before, kept by the gateway.
 */
import { randomUUID } from "node:crypto";
import { badRequest } from "../../http/api-error.ts";
import { readJsonObject } from "../../http/body.ts";
import { asList, readObject, show } from "../../http/json-fields.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import { JsonReply, type Reply } from "../../http/reply.ts";
import type { RouteContext } from "../handle-call.ts";
import { parseInput } from "./items.ts";
import { openConversation, recallResponses } from "./memory.ts";
import { References, referredResponses } from "./references.ts";

/** Opens a conversation with any first items. */
export async function handleConversations({
  gateway,
  session,
  request,
}: RouteContext): Promise<Reply> {
  const body = await readJsonObject(request, gateway);
  const id = `conv_${randomUUID().replaceAll("-", "")}`;
  const input = asList(body.items, "items") ?? [];
  const references = new References(await recallResponses(session, referredResponses(input)));
  const items = parseInput(input, gateway.target.abilities, references);
  openConversation(session, id, items);
  return new JsonReply({
    id,
    object: "conversation",
    created_at: Math.floor(Date.now() / 1000),
    metadata: readObject(body, "metadata") ?? {},
  });
}

/** The conversation that a request names, by its id or as an object. @throws ApiError 400 */
export function readConversation(body: JsonFields): string | undefined {
  const { conversation } = body;
  if (conversation === undefined || conversation === null) return undefined;
  const id = isJsonObject(conversation) ? conversation.id : conversation;
  if (typeof id !== "string" || id === "") {
    throw badRequest(
      "conversation",
      `conversation must be an id, but it is ${show(conversation)}.`,
    );
  }
  if (body.previous_response_id !== undefined && body.previous_response_id !== null) {
    throw badRequest(
      "conversation",
      "conversation and previous_response_id cannot be used together.",
    );
  }
  return id;
}
