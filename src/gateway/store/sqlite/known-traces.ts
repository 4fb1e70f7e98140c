/**
 * Traces that a later one may share its beginning with, in memory so that appending reads nothing. Knows
 * no database. Bounded: what falls out is stored whole the next time, or read again by its id.
 */
import type { Trace } from "../../../core/trace.ts";
import { addTo } from "../../../util/group-by.ts";

/** A stored trace. */
export interface KnownTrace {
  /** Its row. */
  readonly id: number;
  readonly trace: Trace;
  /** Prompt and response. */
  readonly tokens: Int32Array;
  /** The trace that it was stored as a continuation of. */
  readonly baseUid?: string;
}

/** Latest traces of a session that a call without a parent is compared with. */
const recentTraces = 4;
/** What an entry costs in addition to its tokens, in tokens. */
const entryCost = 256;

function costOf(known: KnownTrace): number {
  return known.tokens.length + entryCost;
}

export class KnownTraces {
  readonly #byUid = new Map<string, KnownTrace>();
  readonly #bySession = new Map<string, KnownTrace[]>();
  readonly #limit: number;
  #cost = 0;

  /** `limit`: tokens to hold. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(uid: string): KnownTrace | undefined {
    return this.#byUid.get(uid);
  }

  /** The latest ones of a session, oldest first. */
  recent(sessionUid: string): readonly KnownTrace[] {
    return this.#bySession.get(sessionUid)?.slice(-recentTraces) ?? [];
  }

  add(known: KnownTrace): void {
    const { id, sessionUid } = known.trace;
    this.#byUid.set(id, known);
    addTo(this.#bySession, sessionUid, known);
    this.#cost += costOf(known);
    if (this.#cost <= this.#limit) return;
    for (const oldest of this.#byUid.values()) {
      if (this.#cost <= this.#limit) return;
      this.#remove(oldest);
    }
  }

  deleteSession(sessionUid: string): void {
    for (const known of this.#bySession.get(sessionUid)?.slice() ?? []) this.#remove(known);
  }

  #remove(known: KnownTrace): void {
    const { id, sessionUid } = known.trace;
    this.#byUid.delete(id);
    const own = this.#bySession.get(sessionUid);
    // The oldest of all is the oldest of its session.
    own?.splice(own.indexOf(known), 1);
    if (own?.length === 0) this.#bySession.delete(sessionUid);
    this.#cost -= costOf(known);
  }
}
