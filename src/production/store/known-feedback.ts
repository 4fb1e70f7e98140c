/** Feedback that a store has, so that a file that is imported twice adds it once. */
import { DigestSet } from "../../util/digest-set.ts";
import { type Feedback, type FeedbackInput, toFeedback } from "./feedback.ts";

/** What was said, by whom, about what. */
function wordsOf({ at: _at, weightVersion: _version, ...said }: Feedback): string {
  return JSON.stringify(Object.entries(said).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export class KnownFeedback {
  readonly #words = new DigestSet();
  readonly #dated = new DigestSet();

  constructor(feedback: Iterable<Feedback>) {
    for (const one of feedback) this.#add(one);
  }

  #add(one: Feedback): { readonly areNewWords: boolean; readonly isNewDate: boolean } {
    const words = wordsOf(one);
    const areNewWords = this.#words.add(words);
    return { areNewWords, isNewDate: this.#dated.add(`${one.at} ${words}`) };
  }

  /** False where it is known: said at that time, or, where a file has no times, at any. */
  add(given: FeedbackInput): boolean {
    const { areNewWords, isNewDate } = this.#add(toFeedback(given));
    return given.at === undefined ? areNewWords : isNewDate;
  }
}
