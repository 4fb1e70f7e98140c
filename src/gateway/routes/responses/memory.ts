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

async function findStored(session: CaptureSession, id: string): Promise<KnownResponse | undefined> {
  const traces = await session.storedTraces();
  const trace = traces.find(({ responseId }) => responseId === id);
  if (trace?.recallFrom === undefined || trace.untrainable === "client disconnected")
    return undefined;
  const added = [...trace.messages.slice(trace.recallFrom), trace.response];
  return { previous: undefined, added };
}

/** The messages up to the end of this response. @throws ApiError 400 when there is none of that id. */
export async function recallMessages(
  session: CaptureSession,
  id: string,
): Promise<readonly ChatMessage[]> {
  const responses = responsesOf(session);
  const found = responses.get(id) ?? (await findStored(session, id));
  if (!found) {
    throw new ApiError({
      status: 400,
      message: `Previous response with id ${show(id)} not found: this session has stored none of that id.`,
      reason: "previous_response_not_found",
      param: "previous_response_id",
      retry: false,
    });
  }
  responses.set(id, found);
  const turns: (readonly ChatMessage[])[] = [];
  for (let at: KnownResponse | undefined = found; at; at = at.previous) turns.push(at.added);
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
