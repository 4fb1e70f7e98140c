import { describe, expect, it } from "vitest";
import type { Trace } from "../../../src/core/trace.ts";
import { createMemoryTraceStore } from "../../../src/gateway/index.ts";
import { AdminClient } from "../admin-client.ts";
import { fromWireTrace } from "../wire-trace.ts";
import { createTestGateway, gate, origin, userSays, weatherTool } from "../function-client.ts";

function setUp(
  script: Parameters<typeof createTestGateway>[0] = () => "ok",
  ...options: [Parameters<typeof createTestGateway>[1]?, Parameters<typeof createTestGateway>[2]?]
) {
  const [samplerOptions, gatewayOptions] = options;
  const store = createMemoryTraceStore();
  const test = createTestGateway(script, samplerOptions, { store, ...gatewayOptions });
  const client = new AdminClient({
    url: origin,
    adminToken: test.gateway.adminToken,
    fetch: (url, init) => test.gateway.fetch(new Request(url, init)),
  });
  const call = async (
    access: { baseUrl: string; apiKey: string },
    body: Record<string, unknown> = {},
  ): Promise<Response> => {
    const response = await test.gateway.fetch(
      new Request(`${access.baseUrl}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${access.apiKey}` },
        body: JSON.stringify({ messages: [userSays("x")], ...body }),
      }),
    );
    await response.text();
    return response;
  };
  return { ...test, store, client, call };
}

describe("the admin routes", () => {
  it("give traces as they were captured", async () => {
    const text = 'see <tool_call>{"name": "weather", "arguments": {"city": "Ulm"}}</tool_call>';
    const { client, store, call } = setUp(() => text);
    const session = await client.createSession({
      session_id: "t1:0/a b",
      seed: 4,
      sampling_params: { temperature: 0.5, top_k: 3 },
      metadata: { task: "t1" },
    });
    await call(session, { tools: [weatherTool], n: 2 });
    await call(session, {
      messages: [
        { role: "system", content: "be brief" },
        { role: "assistant", content: null, tool_calls: [toolCall] },
        { role: "tool", tool_call_id: "call_1", content: "sunny" },
        { role: "user", content: [{ type: "text", text: "so?" }] },
      ],
    });
    const kept = await store.bySession("t1:0/a b");
    expect(kept).toHaveLength(3);
    expect(kept[0]!.response.toolCalls).toHaveLength(1);
    expect(await client.traces("t1:0/a b")).toEqual(kept);
    const trace = await client.json(`/traces/${kept[2]!.id}`);
    expect(fromWireTrace(trace)).toEqual(kept[2]);
    const body = { session_ids: ["unknown", "t1:0/a b"], limit: 2 };
    const queried = await client.json<(typeof trace)[]>("/traces/query", { body });
    expect(queried.map(fromWireTrace)).toEqual(kept.slice(0, 2));
    expect(await client.json("/sessions/t1%3A0%2Fa%20b")).toMatchObject({
      session_id: "t1:0/a b",
      trace_count: 3,
      metadata: { task: "t1" },
    });
  });

  it("page, list and delete", async () => {
    const { client, call } = setUp();
    const before = Date.now() / 1000;
    const [a, b] = [await client.createSession({ session_id: "a" }), await client.createSession()];
    for (let i = 0; i < 5; i++) await call(a);
    await call(b);
    expect(await client.sessions()).toEqual([b.uid, "a"]);
    expect(await client.sessions({ limit: 1, since: before })).toHaveLength(1);
    expect(await client.sessions({ since: Date.now() / 1000 + 60 })).toEqual([]);
    const first = await client.tracePage("a", { limit: 3 });
    const second = await client.tracePage("a", { cursor: first.cursor, limit: 3 });
    expect([...first.traces, ...second.traces].map(({ sequence }) => sequence)).toEqual([
      0, 1, 2, 3, 4,
    ]);
    const third = await client.tracePage("a", { cursor: second.cursor });
    expect(third).toEqual({ traces: [], cursor: second.cursor });
    expect((await client.tracePage("a", { since: before })).traces).toHaveLength(5);
    const body = { session_ids: ["a", "a", "unknown"] };
    expect(await client.json("/sessions/batch_delete", { body })).toEqual({ deleted: 5 });
    expect(await client.deleteSession(b.uid)).toBe(1);
    expect(await client.deleteSession(b.uid)).toBe(0);
    expect(await client.sessions()).toEqual([]);
    await expect(client.traces("a")).rejects.toMatchObject({ status: 404 });
  });

  it("stream traces as they come, each once, until the session ends", async () => {
    const { client, call } = setUp();
    const session = await client.createSession({ session_id: "a" });
    await call(session);
    const seen: Trace[] = [];
    const following = (async () => {
      for await (const trace of client.followTraces("a")) seen.push(trace);
    })();
    for (let i = 0; i < 30; i++) await Promise.all([call(session), call(session, { n: 2 })]);
    await expect.poll(() => seen.length).toBe(91);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(91);
    await client.deleteSession("a");
    await following;
    expect(seen).toHaveLength(91);
  });

  it("end a stream that its client leaves", async () => {
    const { client, call } = setUp();
    await call(await client.createSession({ session_id: "a" }));
    for await (const trace of client.followTraces("a")) {
      expect(trace.sequence).toBe(0);
      break;
    }
  });

  it("pause around weight updates", async () => {
    const hold = gate();
    const { client, call, sampler } = setUp(() => "ok", { beforeChunk: () => hold.opened });
    const session = await client.createSession();
    const running = call(session);
    await expect.poll(() => sampler.requests.length).toBe(1);
    expect(await client.pause({ drain_ms: 30 })).toBe(1);
    hold.open();
    await running;
    expect(await client.pause({ drain_ms: 1000 })).toBe(0);
    const held = call(session);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sampler.requests).toHaveLength(1);
    await client.setWeightVersion(7);
    expect(await client.json("/admin/weight_version")).toEqual({ weight_version: 7 });
    await client.resume();
    expect((await held).status).toBe(200);
    await client.pause({ mode: "refuse" });
    const refused = await call(session);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    await client.resume();
    expect((await call(session)).status).toBe(200);
  });

  it("report health and metrics", async () => {
    const { client, call } = setUp();
    await call(await client.createSession());
    expect(await client.json("/health")).toEqual({ status: "ok" });
    const metrics = await (await client.send("/metrics")).text();
    expect(metrics).toContain('traces_total{protocol="openai-chat",trainable="yes"} 1');
    expect(metrics).toContain("agent_trainer_gateway_sessions_open 1");
    expect(metrics).toContain('call_seconds_count{outcome="done"} 1');
  });

  it("refuse with a status and a reason", async () => {
    const { client } = setUp();
    await client.createSession({ session_id: "a" });
    await expect(client.createSession({ session_id: "a" })).rejects.toMatchObject({
      status: 409,
      reason: "session_exists",
      param: "session_id",
    });
    await expect(client.send("/traces/none")).rejects.toMatchObject({ reason: "trace_not_found" });
    await expect(client.send("/sessions", { method: "PUT" })).rejects.toMatchObject({
      status: 405,
    });
  });
});

const toolCall = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

/** What rLLM's own client reads (specs/rllm.md, 6.1 and 6.7), as its Python models name it. */
it("answers rLLM's client in its names", async () => {
  const { admin, call, client } = setUp();
  const created = await admin("POST", "/sessions", {
    session_id: "t1:0",
    sampling_params: { temperature: 1, top_p: 1, max_tokens: 512 },
  });
  expect(await created.json()).toMatchObject({ session_id: "t1:0", url: expect.any(String) });
  await call(await client.createSession({ session_id: "t1:1", metadata: { a: 1 } }));
  expect(await (await admin("GET", "/sessions?limit=1")).json()).toMatchObject([
    { session_id: "t1:1", trace_count: 1, created_at: expect.any(Number), metadata: { a: 1 } },
  ]);
  const [trace] = (await (await admin("GET", "/sessions/t1%3A1/traces")).json()) as object[];
  expect(trace).toMatchObject({
    trace_id: expect.any(String),
    session_id: "t1:1",
    model: expect.any(String),
    messages: [{ role: "user", content: "x" }],
    prompt_token_ids: expect.any(Array),
    response_message: { role: "assistant", content: "ok" },
    completion_token_ids: expect.any(Array),
    logprobs: expect.any(Array),
    finish_reason: "stop",
    weight_version: 0,
    latency_ms: expect.any(Number),
    token_counts: { prompt: expect.any(Number), completion: 3 },
    timestamp: expect.any(Number),
    metadata: {},
  });
  expect(await (await admin("POST", "/admin/flush")).json()).toEqual({ status: "flushed" });
  expect(await (await admin("POST", "/admin/reload")).json()).toEqual({ status: "ok" });
  expect(await (await admin("GET", "/admin/weight_version")).json()).toEqual({
    weight_version: null,
  });
  expect((await admin("POST", "/admin/weight_version", { weight_version: "x" })).status).toBe(400);
  expect((await admin("POST", "/admin/weight_version", {})).status).toBe(400);
  const both = { session_ids: ["t1:0", "t1:1"] };
  expect(await (await admin("POST", "/sessions/batch_delete", both)).json()).toEqual({
    deleted: 1,
  });
});
