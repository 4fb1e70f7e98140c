/** Reads traces from the tables, with what they share with others. Writes nothing. */
import type { Database, Statement } from "libsql";
import type { Trace } from "../../../core/trace.ts";
import type { TracePage, TraceQuery } from "../trace-store.ts";
import type { KnownTrace } from "./known-traces.ts";
import { packUid, unpackTrace, type TraceRow } from "./trace-row.ts";

/** As SQLite gives it. */
interface SqlRow extends Omit<TraceRow, "uid" | "prompt" | "response" | "logprobs" | "body"> {
  readonly uid: ArrayBuffer | string;
  readonly session: number;
  readonly prompt: ArrayBuffer | null;
  readonly response: ArrayBuffer;
  readonly logprobs: ArrayBuffer;
  readonly body: ArrayBuffer;
}

function toRow(row: SqlRow): TraceRow {
  return {
    ...row,
    uid: typeof row.uid === "string" ? row.uid : new Uint8Array(row.uid),
    prompt: row.prompt && new Uint8Array(row.prompt),
    response: new Uint8Array(row.response),
    logprobs: new Uint8Array(row.logprobs),
    body: new Uint8Array(row.body),
  };
}

function originOf(row: TraceRow): number | null {
  return row.head ?? row.base;
}

export class TraceReader {
  readonly #lastId: Statement;
  readonly #sessionId: Statement;
  readonly #sessionUid: Statement;
  readonly #byId: Statement;
  readonly #byUid: Statement;
  readonly #all: Statement;
  readonly #page: Statement;

  constructor(db: Database) {
    const prepare = (sql: string): Statement => db.prepare(sql);
    this.#lastId = prepare("SELECT max(id) AS id FROM traces");
    this.#sessionId = prepare("SELECT id FROM sessions WHERE uid = ?");
    this.#sessionUid = prepare("SELECT uid FROM sessions WHERE id = ?");
    this.#byId = prepare("SELECT * FROM traces WHERE id = ?");
    this.#byUid = prepare("SELECT * FROM traces WHERE uid = ?");
    this.#all = prepare("SELECT * FROM traces WHERE session = ? ORDER BY id");
    this.#page = prepare(
      "SELECT * FROM traces WHERE session = ? AND id > ? AND finished >= ? ORDER BY id LIMIT ?",
    );
  }

  /** 0 when there is none. */
  lastId(): number {
    return (this.#lastId.get([]) as { id: number | null }).id ?? 0;
  }

  sessionId(uid: string): number | undefined {
    return (this.#sessionId.get([uid]) as { id: number } | undefined)?.id;
  }

  known(uid: string): KnownTrace | undefined {
    const row = this.#byUid.get([packUid(uid)]) as SqlRow | undefined;
    if (!row) return undefined;
    const session = this.#sessionUid.get([row.session]) as { uid: string };
    return this.#unpackAll([row], session.uid)[0];
  }

  bySession(sessionUid: string): readonly Trace[] {
    const session = this.sessionId(sessionUid);
    if (session === undefined) return [];
    const found = this.#unpackAll(this.#all.all([session]) as SqlRow[], sessionUid);
    return found
      .map(({ trace }) => trace)
      .sort((a, b) => a.sequence - b.sequence || a.choice - b.choice);
  }

  page({ sessionUid, after = 0, since = -Infinity, limit }: TraceQuery): TracePage {
    const session = this.sessionId(sessionUid);
    if (session === undefined) return { traces: [], cursor: after };
    const from = Number.isFinite(since) ? since : Number.MIN_SAFE_INTEGER;
    const rows = this.#page.all([session, after, from, limit]) as SqlRow[];
    const found = this.#unpackAll(rows, sessionUid);
    return { traces: found.map(({ trace }) => trace), cursor: found.at(-1)?.id ?? after };
  }

  #unpackAll(rows: readonly SqlRow[], sessionUid: string): KnownTrace[] {
    const known = new Map<number, KnownTrace>();
    return rows.map((row) => this.#unpack(toRow(row), sessionUid, known));
  }

  /** Iterative, because a conversation may have more turns than a stack has room for. */
  #unpack(row: TraceRow, sessionUid: string, known: Map<number, KnownTrace>): KnownTrace {
    const chain = [row];
    for (;;) {
      const origin = originOf(chain.at(-1) as TraceRow);
      if (origin === null || known.has(origin)) break;
      const found = this.#byId.get([origin]) as SqlRow | undefined;
      if (!found)
        throw new Error(`the trace of row ${row.id} continues row ${origin}, which is gone`);
      chain.push(toRow(found));
    }
    let trace: KnownTrace | undefined;
    for (const link of chain.toReversed()) {
      const origin = originOf(link);
      trace = unpackTrace(link, sessionUid, origin === null ? undefined : known.get(origin));
      known.set(link.id, trace);
    }
    return trace as KnownTrace;
  }
}
