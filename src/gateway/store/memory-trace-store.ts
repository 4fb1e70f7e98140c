/** Traces in memory, gone with the process. */
import type { JsonObject } from "../../core/message.ts";
import type { Trace } from "../../core/trace.ts";
import { addTo } from "../../util/group-by.ts";
import { StoreError } from "./store-error.ts";
import type { SessionRecord, TraceStore } from "./trace-store.ts";

/**
 * Large fields of a request, such as a schema, are kept as text: the collector of garbage visits each object of a
 * graph again and again while all calls wait, and a text is one.
 */
type KeptTrace = Omit<Trace, "serverFields"> & {
  readonly serverFields?: JsonObject | string;
};

/** Characters of JSON from which on fields are kept as text. */
const largeChars = 1000;

function keptTrace(trace: Trace): KeptTrace {
  if (trace.serverFields === undefined) return trace;
  const text = JSON.stringify(trace.serverFields);
  return text.length < largeChars ? trace : { ...trace, serverFields: text };
}

function readTrace(kept: KeptTrace): Trace {
  const { serverFields } = kept;
  return typeof serverFields === "string"
    ? { ...kept, serverFields: JSON.parse(serverFields) as JsonObject }
    : (kept as Trace);
}

interface Entry {
  readonly position: number;
  readonly trace: KeptTrace;
}

/** Calls in parallel finish in any order. */
function byDispatch(a: Trace, b: Trace): number {
  return a.sequence - b.sequence || a.choice - b.choice;
}

/** A store for tests and for runs whose episodes are saved elsewhere. */
export function createMemoryTraceStore(): TraceStore {
  const sessions = new Map<string, SessionRecord>();
  const entries = new Map<string, Entry[]>();
  const traces = new Map<string, KeptTrace>();
  let lastPosition = 0;
  let closed = false;
  return {
    append(batch) {
      if (closed) throw new StoreError("closed", "The trace store is closed.");
      const taken = batch.find((trace) => traces.has(trace.id));
      if (taken) throw new StoreError("duplicate", `The trace ${taken.id} is stored already.`);
      for (const trace of batch) {
        const kept = keptTrace(trace);
        traces.set(trace.id, kept);
        addTo(entries, trace.sessionUid, { position: ++lastPosition, trace: kept });
      }
    },
    get(id) {
      const kept = traces.get(id);
      return kept && readTrace(kept);
    },
    bySession: (sessionUid) =>
      (entries.get(sessionUid) ?? []).map((entry) => readTrace(entry.trace)).sort(byDispatch),
    page({ sessionUid, after = 0, since, limit }) {
      const found: Entry[] = [];
      for (const entry of entries.get(sessionUid) ?? []) {
        if (entry.position <= after) continue;
        if (since !== undefined && entry.trace.finishedAt < since) continue;
        found.push(entry);
        if (found.length === limit) break;
      }
      return {
        traces: found.map((entry) => readTrace(entry.trace)),
        cursor: found.at(-1)?.position ?? after,
      };
    },
    saveSession(session) {
      if (closed) throw new StoreError("closed", "The trace store is closed.");
      sessions.set(session.uid, session);
    },
    sessions: () =>
      [...sessions.values()]
        .map((session) => ({ ...session, traceCount: entries.get(session.uid)?.length ?? 0 }))
        .sort((a, b) => a.createdAt - b.createdAt),
    deleteSession(sessionUid) {
      const own = entries.get(sessionUid) ?? [];
      for (const { trace } of own) traces.delete(trace.id);
      entries.delete(sessionUid);
      sessions.delete(sessionUid);
      return own.length;
    },
    flush() {},
    close() {
      closed = true;
    },
  };
}
