/** Responses that a later one may continue by id. Kept with their session, in memory. */
import type { ChatMessage } from "../../../core/message.ts";
import { ApiError } from "../../api-error.ts";
import { show } from "../../json-fields.ts";
import type { CaptureSession } from "../../session.ts";

interface StoredResponse {
  readonly previous: StoredResponse | undefined;
  /** What this call added, its answer last; instructions are never carried over. */
  readonly added: readonly ChatMessage[];
}

const stored = new WeakMap<CaptureSession, Map<string, StoredResponse>>();

/** @throws ApiError 400 when this session has stored no such response. */
function find(session: CaptureSession, id: string): StoredResponse {
  const response = stored.get(session)?.get(id);
  if (response) return response;
  throw new ApiError({
    status: 400,
    message: `Previous response with id ${show(id)} not found: this session has stored none of that id.`,
    reason: "previous_response_not_found",
    param: "previous_response_id",
    retry: false,
  });
}

/** The messages up to the end of this response. @throws ApiError 400 */
export function recallMessages(session: CaptureSession, id: string): readonly ChatMessage[] {
  const turns: (readonly ChatMessage[])[] = [];
  let response: StoredResponse | undefined = find(session, id);
  for (; response; response = response.previous) turns.push(response.added);
  return turns.toReversed().flat();
}

export function storeResponse(
  session: CaptureSession,
  id: string,
  previousId: string | undefined,
  added: readonly ChatMessage[],
): void {
  const responses = stored.get(session) ?? new Map<string, StoredResponse>();
  stored.set(session, responses);
  const previous = previousId === undefined ? undefined : responses.get(previousId);
  responses.set(id, { previous, added });
}
