/** Where captured calls are kept. A store knows traces, not sessions' tokens or HTTP. */
import type { Trace } from "../core/trace.ts";

export interface TraceStore {
  /** Resolves when the trace is as durable as this store makes it; the client's answer waits for that. */
  append(trace: Trace): Promise<void> | void;
  /** By `sequence`, then `choice`. Empty for a session without traces. */
  bySession(sessionUid: string): Promise<readonly Trace[]> | readonly Trace[];
  /** Forgets a session; resolves with how many traces it had. */
  deleteSession(sessionUid: string): Promise<number> | number;
}
