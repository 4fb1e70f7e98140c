import { createCompletionReader } from "../../src/core/completion-reader.ts";
import { describe, expect, it } from "vitest";
import type { SamplerTarget } from "../../src/core/backend.ts";
import { createGateway, createMemoryTraceStore } from "../../src/gateway/index.ts";
import { createByteRenderer, createScriptedTarget } from "../../src/testing/index.ts";
import {
  createTestGateway,
  gate,
  readEvents,
  userSays,
  type TestGateway,
  type WireError,
} from "./function-client.ts";

const messages = [userSays("q")];
const never = new Promise<void>(() => undefined);

/** A model that draws two tokens and then waits; `reached` opens when it does. */
function stuckModel(limits: { requestTimeoutMs?: number } = {}): TestGateway & {
  reached: Promise<void>;
} {
  const { opened: reached, open } = gate();
  const stuck = createTestGateway(
    () => "abcdef",
    {
      beforeChunk: (_, sampled) => {
        if (sampled < 2) return;
        open();
        return never;
      },
    },
    limits,
  );
  return { ...stuck, reached };
}

describe("a client that goes away", () => {
  it("ends the sampler and leaves a partial trace that is not trained on", async () => {
    const { open, reached, sampler } = stuckModel();
    const session = await open();
    const client = new AbortController();
    const call = session.post({ messages }, { signal: client.signal });
    await reached;
    client.abort();
    await call;
    expect(sampler.requests[0]?.signal?.aborted).toBe(true);
    expect(await session.traces()).toMatchObject([
      {
        untrainable: "client disconnected",
        finish_reason: "aborted",
        completion_token_ids: [97, 98],
        response_message: { content: "ab" },
      },
    ]);
  });

  it("does so by cancelling a stream, too", async () => {
    const { open, reached } = stuckModel();
    const session = await open();
    const response = await session.post({ messages, stream: true });
    await reached;
    await response.body?.cancel();
    expect(await session.traces()).toMatchObject([
      { untrainable: "client disconnected", completion_token_ids: [97, 98] },
    ]);
  });

  it("is not continued by a later call", async () => {
    let calls = 0;
    const hold = gate();
    const { open } = createTestGateway(() => "ab", {
      beforeChunk: (call, sampled) => {
        if (call.index > 0 || sampled < 2) return;
        calls++;
        hold.open();
        return never;
      },
    });
    const session = await open();
    const client = new AbortController();
    const aborted = session.post({ messages }, { signal: client.signal });
    await hold.opened;
    client.abort();
    await aborted;
    await session.complete({
      messages: [...messages, { role: "assistant", content: "ab" }, userSays("next")],
    });
    const [first, second] = await session.traces();
    expect(calls).toBe(1);
    expect(first?.untrainable).toBe("client disconnected");
    expect(second).toMatchObject({ parent_trace_id: null, untrainable: null });
  });

  it("draws nothing when it has gone before the call", async () => {
    const { open, sampler } = createTestGateway(() => "ab");
    const session = await open();
    const response = await session.post({ messages }, { signal: AbortSignal.abort() });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(sampler.requests).toHaveLength(0);
    expect(await session.traces()).toEqual([]);
  });
});

describe("a deadline", () => {
  it("ends the call with a typed error and no trace", async () => {
    const { open, sampler } = stuckModel({ requestTimeoutMs: 20 });
    const session = await open();
    const response = await session.post({ messages });
    expect(response.status).toBe(504);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(((await response.json()) as WireError).error.code).toBe("timeout");
    expect(sampler.requests[0]?.signal?.aborted).toBe(true);
    expect(await session.traces()).toEqual([]);
  });

  it("ends a stream with an error", async () => {
    const { open } = stuckModel({ requestTimeoutMs: 20 });
    const session = await open();
    const events = await readEvents(await session.post({ messages, stream: true }));
    expect(events.at(-1)).toContain('"code":"timeout"');
    expect(await session.traces()).toEqual([]);
  });

  it("does not wait for a sampler that ignores its signal", async () => {
    const target: SamplerTarget = {
      kind: "sampler",
      renderer: createByteRenderer(),
      sampler: { contextLength: 1000, sample: () => new Promise(() => undefined) },
    };
    const gateway = createGateway({ target, model: "m", requestTimeoutMs: 20 });
    const { url } = await gateway.listen();
    const session = await gateway.sessions.open({ uid: "s", seed: 0, sampling: {} });
    expect(session.baseUrl).toBe(`${url}/sessions/s/v1`);
    const response = await gateway.fetch(
      new Request(`${session.baseUrl}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${session.apiKey}` },
        body: JSON.stringify({ messages }),
      }),
    );
    expect(response.status).toBe(504);
    await gateway.close();
  });
});

describe("closing", () => {
  it("a session aborts its calls, and no other's", async () => {
    const { open, reached } = stuckModel();
    const session = await open();
    const call = session.post({ messages });
    await reached;
    await session.close();
    const response = await call;
    expect(response.status).toBe(503);
    expect(((await response.json()) as WireError).error.message).toContain("session was closed");
  });

  it("a session waits for a call that is being recorded, then forgets it", async () => {
    const memory = createMemoryTraceStore();
    const [storing, hold] = [gate(), gate()];
    const { open, admin } = createTestGateway(
      () => "ab",
      {},
      {
        store: {
          ...memory,
          append: async (trace) => {
            storing.open();
            await hold.opened;
            await memory.append(trace);
          },
        },
      },
    );
    const session = await open();
    const call = session.post({ messages });
    await storing.opened;
    const closing = session.close();
    expect((await session.post({ messages })).status).toBe(401);
    hold.open();
    await Promise.all([call, closing]);
    expect(await memory.bySession("session-0")).toEqual([]);
    expect((await admin("GET", "/sessions/session-0/traces")).status).toBe(404);
  });

  it("the gateway aborts everything and refuses what comes later", async () => {
    const { gateway, open, reached, admin } = stuckModel();
    const session = await open();
    const call = session.post({ messages });
    await reached;
    await Promise.all([gateway.close(), gateway.close()]);
    expect((await call).status).toBe(503);
    expect((await session.post({ messages })).status).toBe(401);
    expect((await admin("POST", "/sessions", {})).status).toBe(503);
    await expect(gateway.listen()).rejects.toThrow("closed");
  });
});

describe("traces", () => {
  it("wait for calls in flight and come by order of dispatch", async () => {
    const hold = gate();
    const { open } = createTestGateway(({ index }) => `${index}`, {
      beforeChunk: (call) => (call.index === 0 ? hold.opened : undefined),
    });
    const session = await open();
    const slow = session.complete({ messages: [userSays("slow")] });
    await session.complete({ messages: [userSays("fast")] });
    const traces = session.traces();
    hold.open();
    await slow;
    const contents = (await traces).map((trace) => trace.messages[0]?.content);
    expect(contents).toEqual(["slow", "fast"]);
  });

  it("are stored before the answer ends, or there is no answer", async () => {
    const errors: unknown[] = [];
    const { open } = createTestGateway(
      () => "ab",
      {},
      {
        store: {
          ...createMemoryTraceStore(),
          append: () => Promise.reject(new Error("disk full at /secret")),
        },
        onError: (error) => {
          errors.push(error);
          throw new Error("a listener that fails");
        },
      },
    );
    const session = await open();
    const response = await session.post({ messages });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
    const events = await readEvents(await session.post({ messages, stream: true }));
    expect(events.at(-1)).toContain('"code":"internal_error"');
    expect(events).not.toContain("[DONE]");
    expect(errors).toHaveLength(2);
  });

  it("are not made of failures", async () => {
    const renderer = {
      ...createByteRenderer(),
      reader: () =>
        createCompletionReader({
          decode: () => {
            throw new Error("cannot decode");
          },
        }),
    };
    const { sampler } = createScriptedTarget(() => "ab");
    for (const target of [
      { kind: "sampler", sampler, renderer } as const,
      createScriptedTarget(() => Promise.reject(new Error("cannot sample"))),
      { ...createScriptedTarget([]), sampler: { contextLength: 9999, sample: async () => [] } },
    ]) {
      const { open } = createTestGateway([], {}, { target });
      const session = await open();
      expect((await session.post({ messages, stop: "x" })).status).toBe(500);
      expect(await session.traces()).toEqual([]);
    }
  });

  it("carry the weight version of the dispatch", async () => {
    const hold = gate();
    let weightVersion = 3;
    const { open } = createTestGateway(() => "ab", {
      weightVersion: () => weightVersion,
      beforeChunk: () => hold.opened,
    });
    const session = await open();
    const before = session.complete({ messages });
    await new Promise((resolve) => setImmediate(resolve));
    weightVersion = 4;
    hold.open();
    await before;
    await session.complete({ messages });
    expect((await session.traces()).map((trace) => trace.weight_version)).toEqual([3, 4]);
  });
});
