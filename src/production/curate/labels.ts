/** Feedback by what it is about, and what all feedback about one turn says together. */
import { addTo } from "../../util/group-by.ts";
import { type Feedback, type RatingChoice, scoreName, scoreOf } from "../store/feedback.ts";
import type { Turn } from "./turns.ts";

export interface Label {
  /** From 0 to 1: the mean over who gave one, of each the last by its name; null where none did. */
  readonly score: number | null;
  /** The last one. */
  readonly correction: string | null;
}

const noLabel: Label = { score: null, correction: null };

/** All that is known about one turn. Who rates twice has changed their mind. */
function labelOf(given: readonly Feedback[], choice: RatingChoice): Label {
  const byUser = new Map<string, number>();
  let correction: string | null = null;
  for (const one of given.toSorted((a, b) => a.at - b.at)) {
    const score = scoreOf(one, choice);
    if (score !== null) byUser.set(JSON.stringify([one.user, scoreName(one)]), score);
    correction = one.correction ?? correction;
  }
  const scores = [...byUser.values()];
  const sum = scores.reduce((total, score) => total + score, 0);
  return { score: scores.length === 0 ? null : sum / scores.length, correction };
}

/** Records that no turn has used, which later ones may: the newest so many are remembered. */
const maxUnused = 100_000;

export class Labels {
  readonly #byKey = new Map<string, Feedback[]>();
  readonly #choice: RatingChoice;
  readonly #matched = new Set<Feedback>();
  /** With the number of each. */
  readonly #unused = new Map<Feedback, number>();
  #count = 0;

  /** @param feedback with the number of each in its journal */
  constructor(feedback: Iterable<readonly [number, Feedback]>, choice: RatingChoice = {}) {
    this.#choice = choice;
    for (const [number, one] of feedback) {
      this.#count++;
      this.#unused.set(one, number);
      const { responseId, traceId, conversationId } = one;
      // What is most exact: a response is part of a trace, and that of a conversation.
      const key =
        responseId !== undefined
          ? `r/${responseId}`
          : traceId !== undefined
            ? `t/${traceId}`
            : `c/${conversationId}`;
      addTo(this.#byKey, key, one);
    }
  }

  get count(): number {
    return this.#count;
  }

  /** Pieces of feedback about a turn that was found. */
  get matched(): number {
    return this.#matched.size;
  }

  /** Numbers of the records that are about no turn yet, or about one that has not ended. */
  get unused(): readonly number[] {
    return [...this.#unused.values()].slice(-maxUnused);
  }

  #about(key: string): readonly Feedback[] {
    return this.#byKey.get(key) ?? [];
  }

  /**
   * The labels of the turns of one group of spans. Feedback on a trace is about its main turn, feedback on a
   * conversation about its last one: what came before may have been bad.
   */
  of(turns: readonly Turn[]): readonly Label[] {
    const main = turns.filter(({ isSubAgent }) => !isSubAgent);
    const mainOf = new Map<string, Turn>();
    for (const turn of main) {
      const before = mainOf.get(turn.traceId);
      if (before === undefined || sizeOf(turn) >= sizeOf(before)) mainOf.set(turn.traceId, turn);
    }
    const lastOf = new Map<string | undefined, Turn>();
    for (const turn of mainOf.values()) {
      const before = lastOf.get(turn.conversationId);
      if (before === undefined || turn.at >= before.at) lastOf.set(turn.conversationId, turn);
    }
    return turns.map((turn) => {
      const { responseId, traceId, conversationId } = turn;
      const isLast = conversationId !== undefined && lastOf.get(conversationId) === turn;
      const about = [
        ...(responseId === undefined ? [] : this.#about(`r/${responseId}`)),
        ...(mainOf.get(traceId) === turn ? this.#about(`t/${traceId}`) : []),
        ...(isLast ? this.#about(`c/${conversationId}`) : []),
      ];
      for (const one of about) {
        this.#matched.add(one);
        if (turn.flaw !== "unfinished") this.#unused.delete(one);
      }
      return about.length === 0 ? noLabel : labelOf(about, this.#choice);
    });
  }
}

const sizeOf = ({ prompt, completion }: Turn): number => prompt.length + completion.length;
