/** Traces in memory, gone with the process. */
import type { Trace } from "../core/trace.ts";
import type { TraceStore } from "./trace-store.ts";

/** A store for tests and for runs whose episodes are saved elsewhere. */
export function createMemoryTraceStore(): TraceStore {
  const sessions = new Map<string, Trace[]>();
  return {
    append(trace) {
      const traces = sessions.get(trace.sessionUid);
      if (traces) traces.push(trace);
      else sessions.set(trace.sessionUid, [trace]);
    },
    bySession(sessionUid) {
      // Calls in parallel finish in any order.
      return (sessions.get(sessionUid) ?? [])
        .slice()
        .sort((a, b) => a.sequence - b.sequence || a.choice - b.choice);
    },
    deleteSession(sessionUid) {
      const count = sessions.get(sessionUid)?.length ?? 0;
      sessions.delete(sessionUid);
      return count;
    },
  };
}
