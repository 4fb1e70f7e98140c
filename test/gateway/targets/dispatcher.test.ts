/** What a call leaves behind at the workers it was tried at, and where the next one goes. */
import { describe, expect, it } from "vitest";
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

describe("a worker where a call failed that another could do", () => {
  interface Pair extends AsyncDisposable {
    readonly dispatcher: Dispatcher;
    /** A call of a session of this name; the id of the worker that did it. */
    run(affinity: string): Promise<string>;
  }

  /** Two workers; the first `failures` calls at worker-1 fail, and all at worker-2 unless it is well. */
  async function setUp(
    failure: UpstreamFailure,
    { healthIntervalMs = 60_000, failures = 1, isOtherWell = true } = {},
  ): Promise<Pair> {
    const upstream = await createUpstream({ script: () => "ok" });
    const workers = [{ url: upstream.url }, { url: upstream.url }];
    const pool = new WorkerPool(workers, { ...limits, healthIntervalMs });
    const dispatcher = new Dispatcher(pool, new CallGate(), limits);
    const first = pool.pick("first", new Set()) as Worker;
    const second = pool.pick("second", new Set([first])) as Worker;
    await expect.poll(() => [first.failedChecks, second.failedChecks]).toEqual([0, 0]);
    let failed = 0;
    return {
      dispatcher,
      run: (affinity) =>
        dispatcher.run({ ...call(), affinity }, async ({ id }) => {
          const isBroken = id === "worker-1" ? failed++ < failures : !isOtherWell;
          if (isBroken) throw new UpstreamError({ failure, message: "it failed" });
          return id;
        }),
      [Symbol.asyncDispose]: async () => {
        pool.close();
        await upstream[Symbol.asyncDispose]();
      },
    };
  }

  const failures: readonly UpstreamFailure[] = [
    "unreachable",
    "timeout",
    "failed",
    "malformed",
    "cut",
  ];

  it.each(failures)("gets no new session and keeps none (%s)", async (failure) => {
    await using pair = await setUp(failure);
    expect(await pair.run("a")).toBe("worker-2");
    expect(await pair.run("b")).toBe("worker-2");
    // What was tried elsewhere stays there.
    expect(await pair.run("a")).toBe("worker-2");
  });

  it("gets new sessions again after a good health check", async () => {
    await using pair = await setUp("failed", { healthIntervalMs: 20 });
    expect(await pair.run("a")).toBe("worker-2");
    let sessions = 0;
    await expect.poll(() => pair.run(`new${sessions++}`)).toBe("worker-1");
  });

  it("is as good as before where it was only busy", async () => {
    await using pair = await setUp("overloaded");
    expect(await pair.run("a")).toBe("worker-2");
    expect(await pair.run("b")).toBe("worker-1");
  });

  it("is not in doubt where the other one could not do it either", async () => {
    await using pair = await setUp("failed", { failures: 2, isOtherWell: false });
    await expect(pair.run("a")).rejects.toThrow("it failed");
    expect(await pair.run("b")).toBe("worker-1");
  });

  it("is tried again where no other is left", async () => {
    await using pair = await setUp("failed");
    expect(await pair.run("a")).toBe("worker-2");
    const seen: string[] = [];
    const done = await pair.dispatcher.run(call(), async ({ id }) => {
      seen.push(id);
      if (seen.length === 1) throw new UpstreamError({ failure: "failed", message: "it failed" });
      return id;
    });
    expect([done, seen]).toEqual(["worker-1", ["worker-2", "worker-1"]]);
    // It did what the other one could not: now that one is in doubt.
    expect(await pair.run("c")).toBe("worker-1");
  });
});
