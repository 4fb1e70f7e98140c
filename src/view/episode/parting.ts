/** Where two rollouts part: the first difference with a little of what is around it. Pure. */
import type { Parting } from "../api/conversation.ts";

/** Text of each call's response. */
type Texts = readonly string[];

const [before, after] = [24, 40];

/** One line of the text from `from` on. */
function piece(text: string, from: number): string {
  const shown = text.slice(from, from + after).replaceAll(/\s+/gu, " ");
  if (shown === "") return "∎";
  return from + after < text.length ? `${shown}…` : shown;
}

/** Null where all responses have the same text. */
export function parting(own: Texts, other: Texts): Parting | null {
  for (let call = 0; call < Math.max(own.length, other.length); call++) {
    const [a, b] = [own[call] ?? "", other[call] ?? ""];
    if (a === b && own[call] !== undefined && other[call] !== undefined) continue;
    let at = 0;
    while (at < Math.min(a.length, b.length) && a[at] === b[at]) at++;
    // A number or a word that differs is shown whole.
    while (at > 0 && /[\p{L}\p{N}]/u.test(a[at - 1] ?? "")) at--;
    const from = Math.max(0, at - before);
    const shared = `${from > 0 ? "…" : ""}${a.slice(from, at).replaceAll(/\s+/gu, " ")}`;
    return { call, shared, own: piece(a, at), other: piece(b, at) };
  }
  return null;
}
