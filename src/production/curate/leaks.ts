/** Held-out turns that ask what training asks. They would measure memory. */
import { messageText } from "../../core/message-text.ts";
import { DigestSet } from "../../util/digest-set.ts";
import { normalizeText } from "../../util/normalize-text.ts";
import type { Turn } from "./turns.ts";

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
  readonly #asked = new DigestSet();

  /** All turns of training first. */
  add(turn: Turn): void {
    const text = askedIn(turn);
    if (text.length >= minChars) this.#asked.add(text);
  }

  has(turn: Turn): boolean {
    const text = askedIn(turn);
    return text.length >= minChars && this.#asked.has(text);
  }
}
