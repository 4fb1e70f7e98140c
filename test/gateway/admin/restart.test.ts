/** A gateway that starts again on the store of an earlier one. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createSqliteTraceStore } from "../../../src/gateway/index.ts";
import { createTestGateway, userSays } from "../function-client.ts";

const folder = mkdtempSync(join(tmpdir(), "restart-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("continues its sessions and conversations", async () => {
  const path = join(folder, "traces.sqlite");
  const say = (text: string) => [userSays(text)];
  const store = createSqliteTraceStore(path);
  const first = createTestGateway(({ choice }) => `ok ${choice}`, {}, { store });
  const session = await first.open({
    sampling_params: { temperature: 0.25 },
    metadata: { task: "t1" },
  });
  const response = await session.complete({ messages: say("hi"), n: 2 });
  await first.gateway.close();
  expect((await session.post({ messages: say("late") })).status).toBe(401);
  await store.close();
  for (const file of readdirSync(folder)) {
    expect(readFileSync(join(folder, file)).includes(session.apiKey)).toBe(false);
  }

  const again = createSqliteTraceStore(path);
  const second = createTestGateway(({ tokens }) => `after ${tokens.length}`, {}, { store: again });
  const post = async (messages: object[]) => {
    const request = new Request(`${session.url}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${session.apiKey}` },
      body: JSON.stringify({ messages }),
    });
    return (await second.gateway.fetch(request)).status;
  };
  expect(await post([...say("hi"), response.choices[1]!.message, userSays("and?")])).toBe(200);
  expect(await post(say("hi"))).toBe(200);
  const [a, b, c, d] = await again.bySession("session-0");
  expect([c!.sequence, c!.parentId, c!.sampling.temperature]).toEqual([1, b!.id, 0.25]);
  // The same prompt as before the restart is another draw.
  expect(d!.sampling.seed).not.toBe(a!.sampling.seed);
  const taken = await second.admin("POST", "/sessions", { session_id: "session-0" });
  expect(taken.status).toBe(409);
  expect(await (await second.admin("GET", "/sessions/session-0")).json()).toMatchObject({
    trace_count: 4,
    metadata: { task: "t1" },
    sampling_params: { temperature: 0.25 },
  });
  await second.admin("DELETE", "/sessions/session-0");
  expect(again.sessions()).toEqual([]);
  await again.close();
});

it("still knows the responses that a later one names", async () => {
  const path = join(folder, "responses.sqlite");
  const store = createSqliteTraceStore(path);
  const first = createTestGateway(["one", "two"], {}, { store });
  const session = await first.open();
  const respond = async (gateway: typeof first.gateway, body: object) => {
    const request = new Request(`${session.url}/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${session.apiKey}` },
      body: JSON.stringify(body),
    });
    const response = await gateway.fetch(request);
    return {
      status: response.status,
      ...((await response.json()) as { id?: string; output?: { id: string }[] }),
    };
  };
  const { id, output } = await respond(first.gateway, { input: "a", instructions: "Be brief." });
  const unstored = await respond(first.gateway, { input: "b", store: false });
  await first.gateway.close();
  await store.close();

  const again = createSqliteTraceStore(path);
  const second = createTestGateway(["three", "four"], {}, { store: again });
  const refused = await respond(second.gateway, { input: "c", previous_response_id: unstored.id });
  expect(refused.status).toBe(400);
  const refer = (items: { id: string }[] | undefined) =>
    items!.map((item) => ({ type: "item_reference", id: item.id }));
  const [said] = refer(output);
  const userItem = (content: string) => ({ role: "user", content });
  const items = [userItem("a"), ...refer(unstored.output), userItem("c")];
  expect((await respond(second.gateway, { input: items })).status).toBe(404);
  await respond(second.gateway, {
    instructions: "Be brief.",
    input: [userItem("a"), said, userItem("b")],
  });
  const [before, , referred] = await again.bySession("session-0");
  expect(referred?.parentId).toBe(before?.id);
  await respond(second.gateway, { input: "c", previous_response_id: id });
  const last = (await again.bySession("session-0")).at(-1);
  expect(last?.messages).toEqual([
    { role: "user", content: "a" },
    { role: "assistant", content: "one" },
    { role: "user", content: "c" },
  ]);
  await second.gateway.close();
  await again.close();
});

it("answers 503 and keeps nothing when the store cannot", async () => {
  const store = createSqliteTraceStore(join(folder, "full.sqlite"), { maxBytes: 64 * 1024 });
  const errors: unknown[] = [];
  const { open } = createTestGateway(
    () => "x".repeat(3000),
    {},
    { store, onError: (error) => errors.push(error) },
  );
  const session = await open();
  const bodies: string[] = [];
  for (let i = 0; i < 30; i++) {
    const messages = [userSays(Math.random().toString(36).repeat(100))];
    const response = await session.post({ messages, max_tokens: 4000, stream: i % 2 === 1 });
    bodies.push(`${response.status} ${await response.text()}`);
  }
  const failed = bodies.filter((body) => body.includes("store_failed"));
  const done = bodies.filter((body) => /^200 (?!.*store_failed)/s.test(body));
  expect(failed.length).toBeGreaterThan(0);
  expect(failed.every((body) => !body.includes("[DONE]") && !body.includes(folder))).toBe(true);
  expect(failed.some((body) => body.startsWith("503"))).toBe(true);
  expect(await store.bySession("session-0")).toHaveLength(done.length);
  expect(errors.length).toBe(failed.length);
  expect(errors[0]).toMatchObject({ code: "STORE_FAILED", reason: "full" });
  await store.close();
});
