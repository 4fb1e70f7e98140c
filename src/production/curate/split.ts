/** Which turns are held out: whole users, or what is newest. Never rows: those of one user are alike. */
import { createHash } from "node:crypto";
import type { Span } from "../store/span.ts";
import { whoOf } from "./who.ts";

export interface SplitOptions {
  /**
   * `user`: all conversations of a user are on one side, and where none is named, all of a conversation. `time`:
   * the newest conversations are held out, as a trained model will meet them.
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

interface Names {
  readonly users: readonly string[];
  readonly conversations: readonly string[];
}

const userPrefix = "0/";
const conversationPrefix = "1/";

function namesIn(spans: readonly Span[]): Names {
  const who = spans.map(whoOf(spans));
  const of = (prefix: string, found: readonly (string | undefined)[]): readonly string[] =>
    [...new Set(found)].flatMap((one) => (one === undefined ? [] : `${prefix}${one}`));
  return {
    users: of(
      userPrefix,
      who.map(({ user }) => user),
    ),
    conversations: of(
      conversationPrefix,
      who.map(({ conversationId }) => conversationId),
    ),
  };
}

/**
 * Sides of groups of spans. Users who share a conversation are on one side, and so are conversations that share a
 * trace.
 */
export class Split {
  readonly #options: SplitOptions;
  /** Towards the name that stands for all that belong together: the first user's, in order of text. */
  readonly #links = new Map<string, string>();

  /** @param groups reads all groups of spans, once or twice */
  constructor(options: SplitOptions, groups: () => Iterable<readonly Span[]>) {
    this.#options = options;
    if (options.by === "time" || options.fraction === 0) return;
    const spread = new Set<string>();
    for (const spans of groups()) {
      const { users, conversations } = namesIn(spans);
      this.#link(users);
      if (conversations.length < 2) continue;
      this.#link([...users, ...conversations]);
      for (const one of conversations) spread.add(one);
    }
    if (spread.size === 0) return;
    for (const spans of groups()) {
      const { users, conversations } = namesIn(spans);
      if (conversations.some((one) => spread.has(one))) this.#link([...users, ...conversations]);
    }
  }

  /** Whether all turns of a group are held out. */
  isHeldOut(spans: readonly Span[]): boolean {
    const { by, fraction, from } = this.#options;
    if (fraction === 0) return false;
    if (by === "time") return beginningOf(spans) >= from;
    const { users, conversations } = namesIn(spans);
    const name = [...users, ...conversations][0];
    const key = name === undefined ? spans[0]!.traceId : this.#root(name).slice(userPrefix.length);
    return shareOf(key) < fraction;
  }

  #root(name: string): string {
    let root = name;
    for (let next = this.#links.get(root); next !== undefined; next = this.#links.get(root))
      root = next;
    if (root !== name) this.#links.set(name, root);
    return root;
  }

  #link(names: readonly string[]): void {
    const roots = [...new Set(names.map((name) => this.#root(name)))].toSorted();
    for (const other of roots.slice(1)) this.#links.set(other, roots[0]!);
  }
}

const beginningOf = (spans: readonly Span[]): number =>
  spans.reduce((first, { startMs }) => Math.min(first, startMs), Infinity);
