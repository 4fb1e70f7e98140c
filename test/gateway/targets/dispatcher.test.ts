/** What a call leaves behind at the workers it was tried at. */
import { expect, it } from "vitest";
import { CallGate } from "../../../src/gateway/call/call-gate.ts";
import { Dispatcher } from "../../../src/gateway/targets/workers/pool/dispatcher.ts";
import type { Worker } from "../../../src/gateway/targets/workers/pool/worker.ts";
import { WorkerPool } from "../../../src/gateway/targets/workers/pool/worker-pool.ts";
import {
  UpstreamError,
  type UpstreamFailure,
} from "../../../src/gateway/targets/workers/upstream-error.ts";
import { createUpstream } from "../../../src/testing/index.ts";

const limits = {
  maxAttempts: 3,
  retryDelayMs: 1,
  healthIntervalMs: 60_000,
  healthTimeoutMs: 5_000,
  failuresToOpen: 100,
  reopenAfterMs: 60_000,
  maxResponseBytes: 1e6,
  deadlines: { connectMs: 5_000, firstByteMs: 5_000, betweenBytesMs: 5_000 },
  model: "scripted",
};

const call = (signal = new AbortController().signal) => ({
  affinity: "s",
  signal,
  remainingMs: () => 60_000,
  committed: () => false,
});

it.each<UpstreamFailure | "other" | "abort">([
  "unreachable",
  "timeout",
  "overloaded",
  "failed",
  "malformed",
  "cut",
  "refused",
  "stale",
  "other",
  "abort",
])("leaves no call counted as active, however it fails (%s)", async (failure) => {
  await using upstream = await createUpstream({ script: () => "ok" });
  const pool = new WorkerPool([{ url: upstream.url }, { url: upstream.url }], limits);
  const dispatcher = new Dispatcher(pool, new CallGate(), limits);
  const seen = new Set<Worker>();
  const leave = new AbortController();
  const running = dispatcher.run(call(leave.signal), async (worker) => {
    seen.add(worker);
    expect(worker.activeRequests).toBe(1);
    if (failure === "abort") {
      leave.abort(new Error("it failed"));
      throw leave.signal.reason;
    }
    if (failure === "other") throw new Error("it failed");
    throw new UpstreamError({ failure, message: "it failed" });
  });
  await expect(running).rejects.toThrow("it failed");
  expect(seen.size).toBe(["refused", "other", "abort"].includes(failure) ? 1 : 2);
  for (const worker of seen) expect(worker.activeRequests).toBe(0);
  pool.close();
});
