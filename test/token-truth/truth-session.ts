/** A capture session without a gateway around it: the one place that knows how one is made. */
import { createMemoryTraceStore } from "../../src/gateway/store/memory-trace-store.ts";
import { GatewayMetrics } from "../../src/gateway/metrics.ts";
import { CaptureSession } from "../../src/gateway/session/session.ts";

const metrics = new GatewayMetrics({
  sessions: () => 0,
  callsInFlight: () => 0,
  callsWaiting: () => 0,
  storeStats: () => ({ commits: 0, commitSeconds: 0 }),
});

export function openTruthSession(uid: string, seed: number): CaptureSession {
  const options = { uid, seed, sampling: {} };
  const stored = { ...options, keyDigest: new Uint8Array(32), createdAt: 0, traceCount: 0 };
  return new CaptureSession(stored, { store: createMemoryTraceStore(), metrics });
}
