import { Worker as Thread } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import type { ResponseChunk } from "../../../src/gateway/targets/workers/adapters/response-part.ts";
import {
  type WorkerRequest,
  runRequest,
} from "../../../src/gateway/targets/workers/requests/upstream-request.ts";
import { Connection } from "../../../src/gateway/targets/workers/http/connection.ts";
import { RequestThread } from "../../../src/gateway/targets/workers/requests/request-thread.ts";
import { createUpstream } from "../../../src/testing/index.ts";
import { openWorld, renderer } from "../http-world.ts";

const deadlines = { connectMs: 5_000, firstByteMs: 5_000, betweenBytesMs: 5_000 };
const params = { temperature: 1, topP: 1, topK: 0, minP: 0, maxTokens: 64, seed: 1 };

function connect(root: string): Connection {
  const address = { root, apiPath: "/v1" };
  return new Connection({ workerId: "w", address, deadlines, maxResponseBytes: 1e9 });
}

function asking(text: string, stream: boolean): WorkerRequest {
  const tokens = Int32Array.from(new TextEncoder().encode(text));
  const request = {
    tokens,
    params: { ...params, stopTokenIds: [] },
    n: 1,
    model: "scripted",
    stream,
  };
  return { form: "tokens", kind: "vllm", request };
}

async function collect(pieces: AsyncIterable<readonly ResponseChunk[]>): Promise<ResponseChunk[]> {
  const all: ResponseChunk[] = [];
  for await (const together of pieces) all.push(...together);
  return all;
}

const patient = (): { signal: AbortSignal } => ({ signal: AbortSignal.timeout(9_000) });

const reports: unknown[] = [];
const report = (error: unknown): void => void reports.push(error);
const open: AsyncDisposable[] = [];
afterEach(async () => {
  reports.length = 0;
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
});

function thread(start?: () => Thread): RequestThread {
  const made = new RequestThread(report, start);
  open.push({ [Symbol.asyncDispose]: () => made.close() });
  return made;
}

describe("exchanges on another thread", () => {
  it("give what they give here, however many at once", async () => {
    await using upstream = await createUpstream({ script: ({ text }) => `answer to ${text}` });
    const connection = connect(upstream.url);
    const there = thread();
    // Long enough that ids are moved instead of copied.
    const requests = Array.from({ length: 12 }, (_, i) =>
      asking(`question ${i} `.repeat(i % 3 === 0 ? 400 : 1), i % 2 === 0),
    );
    const here = await Promise.all(
      requests.map((request) => collect(runRequest(connection, request, patient()))),
    );
    const moved = await Promise.all(
      requests.map((request) => collect(there.run(connection, request, patient()))),
    );
    expect(moved).toEqual(here);
    expect(here.every((pieces) => pieces.length > 0)).toBe(true);
    connection.close();
  });

  it("end at once when they are aborted, and let go of the server", async () => {
    await using upstream = await createUpstream({
      script: () => "x".repeat(50),
      fault: () => ({ type: "stall", after: 1_500 }),
    });
    const connection = connect(upstream.url);
    const there = thread();
    const abort = new AbortController();
    const running = (async () => {
      for await (const pieces of there.run(connection, asking("q", true), abort)) {
        expect(pieces.length).toBeGreaterThan(0);
        abort.abort(new Error("enough"));
      }
    })();
    await expect(running).rejects.toThrow("enough");
    await expect.poll(() => upstream.active).toBe(0);
    // Whoever leaves early needs no signal.
    for await (const _ of there.run(connection, asking("q", true), patient())) break;
    await expect.poll(() => upstream.active).toBe(0);
  });

  it("close their connections with the thread", async () => {
    await using upstream = await createUpstream({ script: () => "hi" });
    const connection = connect(upstream.url);
    const there = thread();
    await collect(there.run(connection, asking("q", false), patient()));
    expect(upstream.connections).toBe(1);
    await there.close();
    await expect.poll(() => upstream.connections).toBe(0);
  });

  it("fail so that they are tried again elsewhere when the thread dies", async () => {
    const there = thread(
      () => new Thread(`setTimeout(() => { throw new Error("boom"); }, 20)`, { eval: true }),
    );
    const running = collect(
      there.run(connect("http://127.0.0.1:9"), asking("q", false), patient()),
    );
    await expect(running).rejects.toMatchObject({ failure: "stale", isRetriable: true });
    expect(there.isUsable).toBe(false);
    expect(reports.map(String)).toEqual(["Error: The thread that talks to workers failed: boom"]);
  });
});

it("calls beyond a few are captured alike, whichever thread they ran on", async () => {
  await using upstream = await createUpstream({ script: ({ text }) => `to ${text.length}` });
  await using world = await openWorld({
    workers: [{ url: upstream.url }],
    renderer,
    offloadFrom: 2,
  });
  const requested = Array.from({ length: 10 }, (_, i) => "q".repeat(i + 1));
  await Promise.all(
    requested.map(async (content) => {
      const response = await world.post({ messages: [{ role: "user", content }] });
      expect(response.status).toBe(200);
      await response.text();
    }),
  );
  const traces = await world.session.traces();
  expect(traces).toHaveLength(10);
  for (const { promptIds, response } of traces) {
    expect(response.content).toBe(`to ${renderer.decode(promptIds).length}`);
  }
});
