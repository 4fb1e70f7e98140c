/** Which tool result belongs to which call, so that a card can show both. Pure. */
import type { ViewCall, ViewMessage } from "./api/conversation.ts";

export interface PairedResults {
  /** By the id of the tool call. */
  readonly byCall: ReadonlyMap<string, ViewMessage>;
  /** Results that have a card, which are not shown again where they stand. */
  readonly paired: ReadonlySet<ViewMessage>;
}

/**
 * By id, each call's first result. Agents may send back other ids than they were given: then the results of one
 * prompt belong to the calls before it in their order, if they are as many.
 *
 * @param isSaid whether a replay has come to a message
 */
export function pairResults(
  calls: readonly ViewCall[],
  isSaid: (call: ViewCall, message: number) => boolean = () => true,
): PairedResults {
  const byCall = new Map<string, ViewMessage>();
  const paired = new Set<ViewMessage>();
  const lastOf = new Map<number, ViewCall>();
  for (const call of calls) {
    const asked = lastOf.get(call.thread)?.response.toolCalls ?? [];
    lastOf.set(call.thread, call);
    if (asked.length === 0) continue;
    const results = call.newMessages.filter(({ role }) => role === "tool");
    const ids = new Set(asked.map(({ id }) => id));
    const areKnown = results.every(({ toolCallId }) => ids.has(toolCallId ?? ""));
    for (const [i, result] of results.entries()) {
      const id = areKnown
        ? result.toolCallId
        : results.length === asked.length
          ? asked[i]?.id
          : undefined;
      if (id === undefined || paired.has(result)) continue;
      paired.add(result);
      if (!byCall.has(id) && isSaid(call, call.newMessages.indexOf(result))) byCall.set(id, result);
    }
  }
  return { byCall, paired };
}
