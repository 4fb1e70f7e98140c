/** A session as a row and back. */
import type { SessionRecord, StoredSession } from "../trace-store.ts";
import { packJson, unpackJson } from "./packed-json.ts";

/** As SQLite gives it. */
export interface SessionRow {
  readonly uid: string;
  readonly created: number;
  readonly key_digest: ArrayBuffer;
  readonly record: ArrayBuffer;
  readonly traces: number;
}

type Options = Pick<SessionRecord, "sampling" | "seed" | "metadata" | "adapters">;

export interface PackedSession {
  readonly uid: string;
  readonly created: number;
  readonly keyDigest: Uint8Array;
  readonly record: Uint8Array;
}

export function packSession(session: SessionRecord): PackedSession {
  const { uid, createdAt, keyDigest, ...options } = session;
  return { uid, created: createdAt, keyDigest, record: packJson(options satisfies Options) };
}

export function unpackSession(row: SessionRow): StoredSession {
  const options = unpackJson(new Uint8Array(row.record)) as Options;
  return {
    ...options,
    uid: row.uid,
    createdAt: row.created,
    keyDigest: new Uint8Array(row.key_digest),
    traceCount: row.traces,
  };
}
