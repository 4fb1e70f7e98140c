/** Feedback by what it is about, and what all feedback about one turn says together. */
import { addTo } from "../../util/group-by.ts";
import { type Feedback, scoreOf } from "../store/feedback.ts";
import type { Turn } from "./turns.ts";

export interface Label {
  /** From 0 to 1: the mean over those who gave one, of each the last; null where none did. */
  readonly score: number | null;
  /** The last one. */
  readonly correction: string | null;
}

const noLabel: Label = { score: null, correction: null };

/** All that is known about one turn. Who rates twice has changed their mind. */
function labelOf(given: readonly Feedback[], outcome: string | undefined): Label {
  const byUser = new Map<string, number>();
  let correction: string | null = null;
  for (const one of given.toSorted((a, b) => a.at - b.at)) {
    const score = scoreOf(one, outcome);
    if (score !== null) byUser.set(one.user ?? "", score);
    correction = one.correction ?? correction;
  }
  const scores = [...byUser.values()];
  const sum = scores.reduce((total, score) => total + score, 0);
  return { score: scores.length === 0 ? null : sum / scores.length, correction };
}

export class Labels {
  readonly #byKey = new Map<string, Feedback[]>();
  readonly #outcome: string | undefined;
  readonly #matched = new Set<Feedback>();
  #count = 0;

  /** @param outcome name of an outcome that is a score */
  constructor(feedback: Iterable<Feedback>, outcome?: string) {
    this.#outcome = outcome;
    for (const one of feedback) {
      this.#count++;
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

  #about(key: string): readonly Feedback[] {
    return this.#byKey.get(key) ?? [];
  }

  /**
   * The labels of the turns of one conversation. Feedback on a trace is about its main turn, feedback on a
   * conversation about its last one: what came before may have been bad.
   */
  of(turns: readonly Turn[]): readonly Label[] {
    const main = turns.filter(({ isSubAgent }) => !isSubAgent);
    const mainOf = new Map<string, Turn>();
    for (const turn of main) {
      const before = mainOf.get(turn.traceId);
      if (before === undefined || sizeOf(turn) >= sizeOf(before)) mainOf.set(turn.traceId, turn);
    }
    const last = [...mainOf.values()].reduce<Turn | null>(
      (late, turn) => (late === null || turn.at >= late.at ? turn : late),
      null,
    );
    return turns.map((turn) => {
      const about = [
        ...(turn.responseId === undefined ? [] : this.#about(`r/${turn.responseId}`)),
        ...(mainOf.get(turn.traceId) === turn ? this.#about(`t/${turn.traceId}`) : []),
        ...(turn === last && turn.conversationId !== undefined
          ? this.#about(`c/${turn.conversationId}`)
          : []),
      ];
      for (const one of about) this.#matched.add(one);
      return about.length === 0 ? noLabel : labelOf(about, this.#outcome);
    });
  }
}

const sizeOf = ({ prompt, completion }: Turn): number => prompt.length + completion.length;
