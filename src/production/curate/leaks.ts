/** Held-out turns that ask what training asks: the same, or nearly. They would measure memory. */
import { DigestSet } from "../../util/digest-set.ts";
import { NearIndex } from "../../datasets/overlap/near-index.ts";
import { type Shingles, shinglesOf } from "../../datasets/overlap/shingles.ts";
import { normalizeText } from "../../util/normalize-text.ts";
import { messageText } from "../../core/message-text.ts";
import type { Turn } from "./turns.ts";

/** Beyond so many prompts only the same ones are found: the index of near ones grows with each. */
const maxNear = 20_000;

/** Characters of a prompt that are compared, from its end. */
const comparedChars = 4000;

/** Short ones ("thanks") are the same by chance, and teach nothing that could leak. */
const minChars = 20;

/** What the user said, which is what tells prompts apart. */
function askedIn({ prompt }: Turn): string {
  const said = prompt.filter(({ role }) => role === "user").map((one) => messageText(one.content));
  return normalizeText(said.join("\n").slice(-comparedChars));
}

export class Leaks {
  readonly #exact = new DigestSet();
  #shingles: Shingles[] = [];
  #near: NearIndex | null = null;

  /** All turns of training first. */
  add(turn: Turn): void {
    const text = askedIn(turn);
    if (text.length < minChars || !this.#exact.add(text)) return;
    if (this.#exact.size <= maxNear) this.#shingles.push(shinglesOf(text));
  }

  has(turn: Turn): boolean {
    const text = askedIn(turn);
    if (text.length < minChars) return false;
    if (this.#exact.has(text)) return true;
    this.#near ??= this.#built();
    return this.#near.find(shinglesOf(text)).length > 0;
  }

  #built(): NearIndex {
    const index = new NearIndex();
    for (const one of this.#shingles) index.count(one);
    for (const [i, one] of this.#shingles.entries()) index.add(i, one);
    this.#shingles = [];
    return index;
  }
}
