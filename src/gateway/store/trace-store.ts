/**
 * Where captured calls are kept. A store knows traces and what identifies a session; it knows neither
 * tokens of sessions in clear nor HTTP.
 */
import type { SessionOptions } from "../../core/session.ts";
import type { Trace } from "../../core/trace.ts";

type Maybe<T> = Promise<T> | T;

/** A session as it survives a restart. */
export interface SessionRecord extends SessionOptions {
  /** SHA-256 of the session's token. The token itself is never stored. */
  readonly keyDigest: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A session as a store returns it. */
export interface StoredSession extends SessionRecord {
  readonly traceCount: number;
}

/** A part of one session's traces, in order of arrival. */
export interface TraceQuery {
  readonly sessionUid: string;
  /** The cursor of an earlier page; only what arrived after it. @default the beginning */
  readonly after?: number;
  /** Only calls that finished at this time or later, in milliseconds since the epoch. */
  readonly since?: number;
  /** Most traces to return, at least 1. */
  readonly limit: number;
}

/** A part of a session's traces, and where the next part begins. */
export interface TracePage {
  readonly traces: readonly Trace[];
  /** For `after`; stays the same while nothing arrives. */
  readonly cursor: number;
}

interface StoreStats {
  readonly commits: number;
  readonly commitSeconds: number;
}

/** Where a gateway keeps traces and sessions: in memory, in SQLite, or a custom store. */
export interface TraceStore {
  /**
   * All of them or none: the choices of one call. Resolves when they are as durable as this store
   * makes them; the client's response waits for that.
   * @throws StoreError when they could not be kept.
   */
  append(traces: readonly Trace[]): Maybe<void>;
  get(id: string): Maybe<Trace | undefined>;
  /** By `sequence`, then `choice`. Empty for a session without traces. */
  bySession(sessionUid: string): Maybe<readonly Trace[]>;
  page(query: TraceQuery): Maybe<TracePage>;
  /** Keeps a session, or what changed of it. */
  saveSession(session: SessionRecord): Maybe<void>;
  /** All that were saved and not deleted, by `createdAt`. Asked once, when a gateway starts. */
  sessions(): readonly StoredSession[];
  /** Forgets a session; resolves with how many traces it had. */
  deleteSession(sessionUid: string): Maybe<number>;
  /** Resolves when everything appended so far is durable. */
  flush(): Maybe<void>;
  /** Since it was opened; absent where nothing is written. */
  stats?(): StoreStats;
  /** Idempotent. Nothing can be appended afterwards. */
  close(): Maybe<void>;
}
