/**
 * Traces in an SQLite file. A trace is safe when `append` resolves; after a crash, the file holds
 * exactly those and perhaps some more that were not acknowledged. Knows SQL, and no HTTP.
 */
import { ConfigError } from "../../../core/errors.ts";
import type { Trace } from "../../../core/trace.ts";
import type { StoredSession, TraceStore } from "../trace-store.ts";
import { findBase } from "./find-base.ts";
import { GroupCommit } from "./group-commit.ts";
import { KnownTraces, type KnownTrace } from "./known-traces.ts";
import { openDatabase, type Synchronous, writerSetup } from "./schema.ts";
import { packSession, unpackSession, type SessionRow } from "./session-row.ts";
import { StoreError, toStoreError } from "../store-error.ts";
import { StoreWriter } from "./store-writer.ts";
import { packSibling, packTrace, type PackedTrace } from "./trace-row.ts";
import { TraceReader } from "./trace-reader.ts";

/** Durability and limits of a trace store in SQLite. */
export interface SqliteTraceStoreOptions {
  /**
   * `full`: a trace is on the disk before the client sees the last byte. `normal`: the operating system has
   * it by then, so it survives the gateway, but perhaps not a power cut; much faster on most disks.
   * @default "full"
   */
  readonly synchronous?: Synchronous;
  /** How long to try again while another process writes, in milliseconds. @default 5_000 */
  readonly busyTimeoutMs?: number;
  /** Largest size of the file in bytes; beyond it, calls fail as on a full disk. @default unbounded */
  readonly maxBytes?: number;
  /** Called after each commit. @default none */
  readonly onCommit?: (writes: number, milliseconds: number) => void;
}

/** Tokens of earlier traces kept in memory, for prompts that continue them. */
const knownTokens = 8 * 2 ** 20;

function checkOption(option: string, value: number | undefined, min: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= min)) return;
  throw new ConfigError({
    message: `${option} must be an integer of at least ${min}, but it is ${value}.`,
    fields: { option, value },
  });
}

function checkSynchronous(value: Synchronous): void {
  if (["full", "normal"].includes(value)) return;
  throw new ConfigError({
    message: `synchronous must be "full" or "normal", but it is ${JSON.stringify(value)}.`,
    fields: { option: "synchronous", value },
  });
}

/**
 * Opens the store at `path`, or creates it. One gateway at a time may use it.
 * @throws ConfigError when the file is something else, or another gateway uses it.
 */
export function createSqliteTraceStore(
  path: string,
  options: SqliteTraceStoreOptions = {},
): TraceStore {
  const { synchronous = "full", busyTimeoutMs = 5_000, maxBytes, onCommit } = options;
  checkSynchronous(synchronous);
  checkOption("busyTimeoutMs", busyTimeoutMs, 0);
  checkOption("maxBytes", maxBytes, 64 * 1024);
  const { db, lock } = openDatabase(path);
  const stats = { commits: 0, commitSeconds: 0 };
  const known = new KnownTraces(knownTokens);
  const reader = new TraceReader(db);
  const writer = new StoreWriter(path, writerSetup(synchronous, maxBytes), reader);
  const commits = new GroupCommit({
    transaction: writer,
    path,
    busyTimeoutMs,
    onCommit: (writes, milliseconds) => {
      stats.commits++;
      stats.commitSeconds += milliseconds / 1000;
      onCommit?.(writes, milliseconds);
    },
  });
  const allSessions = db.prepare(
    `SELECT uid, created, key_digest, record, coalesce(traces, 0) AS traces FROM sessions
     LEFT JOIN (SELECT session, count(*) AS traces FROM traces GROUP BY session) ON session = id
     WHERE record IS NOT NULL ORDER BY created, id`,
  );
  let nextId = reader.lastId() + 1;
  let closing: Promise<void> | undefined;

  /** The trace that `parentId` names, from memory or else from the file. */
  function parentOf(trace: Trace): KnownTrace | undefined {
    if (trace.parentId === null) return findBase(trace, known);
    const parent = known.get(trace.parentId) ?? reader.known(trace.parentId);
    return parent?.trace.sessionUid === trace.sessionUid ? parent : undefined;
  }

  function packCall(traces: readonly Trace[]): PackedTrace[] {
    const packed: PackedTrace[] = [];
    for (const trace of traces) {
      const head = packed.find(({ row }) => row.head === null)?.known;
      const sibling = head ? packSibling(nextId, trace, head) : null;
      packed.push(sibling ?? packTrace(nextId, trace, parentOf(trace)));
      nextId++;
    }
    return packed;
  }

  const requireOpen = (): void => {
    if (closing) throw new StoreError("closed", `The trace store ${path} is closed.`);
  };
  const reading = <T>(read: () => T): T => {
    requireOpen();
    try {
      return read();
    } catch (error) {
      throw toStoreError(error, path);
    }
  };

  return {
    async append(traces) {
      const packed = reading(() => packCall(traces));
      await commits.add(() => {
        for (const { row, known: added } of packed) {
          writer.insertTrace(added.trace.sessionUid, row);
        }
      });
      // Only now: what failed must not be continued.
      for (const added of packed) known.add(added.known);
    },
    get: (id) => reading(() => (known.get(id) ?? reader.known(id))?.trace),
    bySession: (sessionUid) => reading(() => reader.bySession(sessionUid)),
    page: (query) => reading(() => reader.page(query)),
    async saveSession(session) {
      requireOpen();
      const packed = packSession(session);
      await commits.add(() => {
        writer.saveSession(packed);
      });
    },
    sessions: (): readonly StoredSession[] =>
      reading(() => allSessions.all().map((row) => unpackSession(row as SessionRow))),
    async deleteSession(sessionUid) {
      requireOpen();
      let count = 0;
      await commits.add(() => {
        count = writer.deleteSession(sessionUid);
      });
      known.deleteSession(sessionUid);
      return count;
    },
    flush: () => commits.flush(),
    stats: () => ({ ...stats }),
    close() {
      closing ??= commits.flush().then(async () => {
        await writer.close();
        try {
          // Leaves one file. Where another process reads, it is that one's to do.
          db.pragma("wal_checkpoint(TRUNCATE)");
        } finally {
          db.close();
          lock.release();
        }
      });
      return closing;
    },
  };
}
