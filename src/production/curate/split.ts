/** Which turns are held out: whole users, or what is newest. Never rows: those of one user are alike. */
import { createHash } from "node:crypto";
import type { Turn } from "./turns.ts";

export interface SplitOptions {
  /**
   * `user`: all turns of a user are on one side; where a turn names no user, all of its conversation. `time`: the newest
   * conversations are held out, as a trained model will meet them.
   */
  readonly by: "user" | "time";
  /** From 0 to 1. */
  readonly fraction: number;
  /** With `time`: conversations that begin at this time or later are held out. */
  readonly from: number;
}

/** From 0 to 1, the same for the same text. */
function shareOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}

/** @param beganAt when the conversation began */
export function isHeldOut(
  turn: Turn,
  beganAt: number,
  { by, fraction, from }: SplitOptions,
): boolean {
  if (fraction === 0) return false;
  if (by === "time") return beganAt >= from;
  return shareOf(turn.user ?? turn.conversationId ?? turn.traceId) < fraction;
}
