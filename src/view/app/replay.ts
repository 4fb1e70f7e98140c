/** Stepping through an episode: how many of its messages have been said so far. Pure. */
import type { ViewCall, ViewEpisode } from "../api/conversation.ts";

/** Messages of one call: those that are new in its prompt, and its response. */
const messagesOf = ({ newMessages }: ViewCall): number => newMessages.length + 1;

export const messageCount = ({ trajectories }: ViewEpisode): number =>
  trajectories.flatMap(({ calls }) => calls).reduce((sum, call) => sum + messagesOf(call), 0);

/** The call as it was after `at` messages of the episode; null where it had not begun. */
export function partOf(
  call: ViewCall,
  before: number,
  at: number,
): { readonly messages: number; readonly isWhole: boolean } | null {
  const said = at - before;
  if (said <= 0) return null;
  const { length } = call.newMessages;
  return { messages: Math.min(said, length), isWhole: said > length };
}

/** How many messages come before each call, by the call's number. */
export function messagesBefore({ trajectories }: ViewEpisode): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  let sum = 0;
  for (const call of trajectories.flatMap(({ calls }) => calls)) {
    found.set(call.k, sum);
    sum += messagesOf(call);
  }
  return found;
}
