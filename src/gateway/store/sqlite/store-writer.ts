/**
 * The connection that writes a store. Rows are put into memory on this thread; the commit, which waits
 * for the disk, runs on a thread of the driver, so that calls continue meanwhile. Knows SQL, not when to commit.
 */
import { createRequire } from "node:module";
import { pageSize } from "./schema.ts";
import type { PackedSession } from "./session-row.ts";
import type { TraceReader } from "./trace-reader.ts";
import type { TraceRow } from "./trace-row.ts";

/** Of the driver, which has no types for these. */
interface AsyncStatement {
  run(values: readonly unknown[]): { readonly changes: number; readonly lastInsertRowid: number };
}

interface AsyncDatabase {
  readonly inTransaction: boolean;
  exec(sql: string): Promise<void>;
  prepare(sql: string): Promise<AsyncStatement>;
  close(): void;
}

const sql = {
  begin: "BEGIN IMMEDIATE",
  insertTrace: "INSERT INTO traces VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  insertSession: "INSERT INTO sessions (uid) VALUES (?)",
  updateSession: "UPDATE sessions SET created = ?, key_digest = ?, record = ? WHERE id = ?",
  deleteTraces: "DELETE FROM traces WHERE session = ?",
  deleteSession: "DELETE FROM sessions WHERE id = ?",
} as const;

type Statements = Readonly<Record<keyof typeof sql, AsyncStatement>>;

/** Pages of the log after which they are moved into the file. */
const checkpointPages = 1024;

/** Loaded when a file is opened, so that a gateway in memory needs no native code. */
function connect(path: string): AsyncDatabase {
  const Database = createRequire(import.meta.url)("libsql/promise") as new (
    path: string,
    options: object,
  ) => AsyncDatabase;
  return new Database(path, { timeout: 0 });
}

export class StoreWriter {
  readonly #db: AsyncDatabase;
  /** Moves the log into the file while others write. */
  readonly #mover: AsyncDatabase;
  readonly #reader: TraceReader;
  readonly #ready: Promise<Statements>;
  #statements: Statements | undefined;
  /** About as many bytes as the log has got since it was moved last. */
  #logged = 0;
  #moving: Promise<void> | undefined;
  /** What this transaction changed of the sessions' ids; null for one that it deleted. */
  readonly #changed = new Map<string, number | null>();

  /** `setup`: SQL for the new connection; `reader`: another connection, which sees what is committed. */
  constructor(path: string, setup: string, reader: TraceReader) {
    this.#db = connect(path);
    this.#mover = connect(path);
    this.#reader = reader;
    this.#ready = this.#prepare(setup);
    // The first write reports it.
    this.#ready.catch(() => undefined);
  }

  get isWriting(): boolean {
    return this.#db.inTransaction;
  }

  async begin(): Promise<void> {
    this.#statements ??= await this.#ready;
    this.#changed.clear();
    this.#statements.begin.run([]);
  }

  /** Resolves when everything since `begin` is on the disk. */
  async commit(): Promise<void> {
    await this.#db.exec("COMMIT");
    if (this.#logged >= checkpointPages * pageSize) this.#moving ??= this.#move();
  }

  rollback(): Promise<void> {
    return this.#db.exec("ROLLBACK");
  }

  insertTrace(sessionUid: string, row: TraceRow): void {
    const { id, uid, sequence, choice, head, base, kept, finished } = row;
    const { prompt, response, logprobs, body } = row;
    const session = this.#sessionId(sessionUid);
    const place = [id, uid, session, sequence, choice, head, base, kept, finished];
    this.#open.insertTrace.run([...place, prompt, response, logprobs, body]);
    const bytes = (prompt?.length ?? 0) + response.length + logprobs.length + body.length;
    // Its last page is partly empty, and the pages of two indexes change with it.
    this.#logged += bytes + 3 * pageSize;
  }

  saveSession({ uid, created, keyDigest, record }: PackedSession): void {
    this.#open.updateSession.run([created, keyDigest, record, this.#sessionId(uid)]);
  }

  /** Returns how many traces it had. */
  deleteSession(uid: string): number {
    const id = this.#knownId(uid);
    if (id === undefined) return 0;
    const { changes } = this.#open.deleteTraces.run([id]);
    this.#open.deleteSession.run([id]);
    this.#changed.set(uid, null);
    return changes;
  }

  async close(): Promise<void> {
    await this.#ready.catch(() => undefined);
    await this.#moving;
    this.#mover.close();
    this.#db.close();
  }

  async #move(): Promise<void> {
    this.#logged = 0;
    try {
      await this.#mover.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch {
      // The log is complete without it, and a commit moves it when it has grown too long.
    } finally {
      this.#moving = undefined;
    }
  }

  get #open(): Statements {
    return this.#statements as Statements;
  }

  #knownId(uid: string): number | undefined {
    const changed = this.#changed.get(uid);
    return changed === undefined ? this.#reader.sessionId(uid) : (changed ?? undefined);
  }

  #sessionId(uid: string): number {
    const known = this.#knownId(uid);
    if (known !== undefined) return known;
    const id = this.#open.insertSession.run([uid]).lastInsertRowid;
    this.#changed.set(uid, id);
    return id;
  }

  async #prepare(setup: string): Promise<Statements> {
    await this.#db.exec(setup);
    const prepared = Object.entries(sql).map(async ([name, text]) => [
      name,
      await this.#db.prepare(text),
    ]);
    return Object.fromEntries(await Promise.all(prepared)) as Statements;
  }
}
