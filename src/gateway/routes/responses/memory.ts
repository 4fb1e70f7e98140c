/**
 * Responses that a later one may continue by id. Those since the start are in memory with their session,
 * older ones are found among its stored traces.
 */
import type { ChatMessage } from "../../../core/message.ts";
import { ApiError } from "../../http/api-error.ts";
import { show } from "../../http/json-fields.ts";
import type { CaptureSession } from "../../session/session.ts";

interface KnownResponse {
  readonly previous: KnownResponse | undefined;
  /** What this call added, its response last; instructions are never carried over. */
  readonly added: readonly ChatMessage[];
}

const known = new WeakMap<CaptureSession, Map<string, KnownResponse>>();

function responsesOf(session: CaptureSession): Map<string, KnownResponse> {
  const responses = known.get(session) ?? new Map<string, KnownResponse>();
  known.set(session, responses);
  return responses;
}

/** The responses of these ids, as far as they were stored. */
async function findResponses(
  session: CaptureSession,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, KnownResponse>> {
  const responses = responsesOf(session);
  if ([...ids].some((id) => !responses.has(id))) {
    for (const trace of await session.storedTraces()) {
      const { responseId, messages, recallFrom, response } = trace;
      if (!ids.has(responseId) || responses.has(responseId)) continue;
      if (recallFrom === undefined || trace.untrainable === "client disconnected") continue;
      const added = [...messages.slice(recallFrom), response];
      responses.set(responseId, { previous: undefined, added });
    }
  }
  return responses;
}

/** What was said in the responses of these ids; none for one that was not stored. */
export async function recallResponses(
  session: CaptureSession,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, ChatMessage>> {
  const responses = await findResponses(session, ids);
  const said = new Map<string, ChatMessage>();
  for (const id of ids) {
    const message = responses.get(id)?.added.at(-1);
    if (message) said.set(id, message);
  }
  return said;
}

/** The messages up to the end of this response. @throws ApiError 400 when there is none of that id. */
export async function recallMessages(
  session: CaptureSession,
  id: string,
): Promise<readonly ChatMessage[]> {
  const found = (await findResponses(session, new Set([id]))).get(id);
  if (!found) {
    throw new ApiError({
      status: 400,
      message: `Previous response with id ${show(id)} not found: this session has stored none of that id.`,
      reason: "previous_response_not_found",
      param: "previous_response_id",
      retry: false,
    });
  }
  return messagesOf(found);
}

/** The last response of each conversation; null for one without any. In memory only. */
const conversations = new WeakMap<CaptureSession, Map<string, KnownResponse | null>>();

function conversationsOf(session: CaptureSession): Map<string, KnownResponse | null> {
  const own = conversations.get(session) ?? new Map<string, KnownResponse | null>();
  conversations.set(session, own);
  return own;
}

/** @param added what it begins with */
export function openConversation(
  session: CaptureSession,
  id: string,
  added: readonly ChatMessage[],
): void {
  const first = added.length === 0 ? null : { previous: undefined, added };
  conversationsOf(session).set(id, first);
}

/** The messages of a conversation so far. @throws ApiError 404 when this session has opened none of that id. */
export function recallConversation(session: CaptureSession, id: string): readonly ChatMessage[] {
  const last = conversationsOf(session).get(id);
  if (last === undefined) {
    throw new ApiError({
      status: 404,
      message: `Conversation with id ${show(id)} not found: open one with POST conversations in the same session.`,
      reason: "conversation_not_found",
      param: "conversation",
      retry: false,
    });
  }
  return last === null ? [] : messagesOf(last);
}

/** Adds what a call added, its response last. */
export function continueConversation(
  session: CaptureSession,
  id: string,
  added: readonly ChatMessage[],
): void {
  const own = conversationsOf(session);
  own.set(id, { previous: own.get(id) ?? undefined, added });
}

function messagesOf(last: KnownResponse): readonly ChatMessage[] {
  const turns: (readonly ChatMessage[])[] = [];
  for (let at: KnownResponse | undefined = last; at; at = at.previous) turns.push(at.added);
  return turns.toReversed().flat();
}

export function rememberResponse(
  session: CaptureSession,
  id: string,
  previousId: string | undefined,
  added: readonly ChatMessage[],
): void {
  const responses = responsesOf(session);
  const previous = previousId === undefined ? undefined : responses.get(previousId);
  responses.set(id, { previous, added });
}
