/** Which worker a call goes to, and what it is told. */
import { expect, it } from "vitest";
import { createUpstream, type Upstream } from "../../../src/testing/index.ts";
import { openWorld, renderer } from "../http-world.ts";

const messages = [{ role: "user", content: "q" }];
const script = () => "ok";

async function two(): Promise<[Upstream, Upstream]> {
  return Promise.all([createUpstream({ script }), createUpstream({ script })]);
}

it("keeps a session where it began, and spreads sessions", async () => {
  const [a, b] = await two();
  await using world = await openWorld({ workers: [{ url: a.url }, { url: b.url }], renderer });
  const session = await world.gateway.sessions.open({ uid: "x", seed: 1, sampling: {} });
  for (let i = 0; i < 6; i++) {
    await fetch(`${session.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${session.apiKey}` },
      body: JSON.stringify({ messages }),
    });
  }
  expect([a.calls.length, b.calls.length].sort()).toEqual([0, 6]);
  await a[Symbol.asyncDispose]();
  await b[Symbol.asyncDispose]();
});

it("sends new sessions where there is the least load", async () => {
  let release = (): void => undefined;
  const held = new Promise<string>((done) => (release = () => done("ok")));
  const [a, b] = await Promise.all([
    createUpstream({ script: () => held }),
    createUpstream({ script: () => held }),
  ]);
  const workers = [{ url: a.url }, { url: b.url }];
  await using world = await openWorld({ workers, renderer });
  const responses = Array.from({ length: 8 }, (_, i) => world.post({ messages }, { uid: `u${i}` }));
  await expect.poll(() => a.active + b.active).toBe(8);
  expect([a.active, b.active]).toEqual([4, 4]);
  release();
  for (const response of await Promise.all(responses)) expect(response.status).toBe(200);
  await a[Symbol.asyncDispose]();
  await b[Symbol.asyncDispose]();
});

it("finds out that a worker has died, and that it is back", async () => {
  await using stays = await createUpstream({ script });
  const dies = await createUpstream({ script });
  const port = Number(new URL(dies.url).port);
  await using world = await openWorld({
    // The first of those without load gets a new session.
    workers: [{ url: dies.url }, { url: stays.url }],
    renderer,
    maxAttempts: 1,
    healthIntervalMs: 20,
    healthTimeoutMs: 500,
  });
  let sessions = 0;
  const statusOfNew = async (): Promise<number> =>
    (await world.post({ messages }, { uid: `new${sessions++}` })).status;
  expect(await statusOfNew()).toBe(200);
  expect(dies.calls).toHaveLength(1);
  await dies[Symbol.asyncDispose]();
  await expect.poll(statusOfNew).toBe(200);
  for (let i = 0; i < 3; i++) expect(await statusOfNew()).toBe(200);
  await using again = await createUpstream({ script, port });
  await expect
    .poll(async () => {
      expect(await statusOfNew()).toBe(200);
      return again.calls.length;
    })
    .toBeGreaterThan(0);
});

it("holds calls while weights are exchanged, and tells the version at dispatch", async () => {
  await using upstream = await createUpstream({ script });
  await using world = await openWorld({ workers: [{ url: upstream.url }], renderer });
  await world.admin("POST", "/admin/weight_version", { weight_version: 4 });
  expect((await world.post({ messages })).status).toBe(200);
  await world.admin("POST", "/admin/pause", { mode: "hold" });
  const held = world.post({ messages });
  await new Promise((done) => setTimeout(done, 50));
  expect(upstream.calls).toHaveLength(1);
  await world.admin("POST", "/admin/weight_version", { weight_version: 5 });
  await world.admin("POST", "/admin/resume");
  expect((await held).status).toBe(200);
  const traces = await world.session.traces();
  expect(traces.map(({ weightVersion }) => weightVersion)).toEqual([4, 5]);
});

it("keeps the workers' key to itself", async () => {
  const key = "sk-very-secret-worker-key";
  await using upstream = await createUpstream({
    script,
    fault: (call) =>
      call === 0
        ? {
            type: "status",
            status: 400,
            body: JSON.stringify({ error: { message: `bad key ${key}` } }),
          }
        : undefined,
  });
  await using world = await openWorld({ workers: [{ url: upstream.url, apiKey: key }] });
  const refused = await world.post({ messages });
  expect(refused.status).toBe(400);
  expect(await refused.text()).not.toContain(key);
  await world.post({ messages });
  expect(upstream.calls[0]?.headers.authorization).toBe(`Bearer ${key}`);
  expect(JSON.stringify(await world.session.traces())).not.toContain(key);
});

it("aborts the server's call when the client leaves", async () => {
  await using upstream = await createUpstream({
    script: () => "a long answer",
    fault: () => ({ type: "stall", after: 1_500 }),
  });
  await using world = await openWorld({ workers: [{ url: upstream.url }], renderer });
  const leave = new AbortController();
  const response = await world.post({ messages, stream: true }, { signal: leave.signal });
  expect(response.status).toBe(200);
  await response.body?.getReader().read();
  expect(upstream.active).toBe(1);
  leave.abort();
  await expect.poll(() => upstream.active).toBe(0);
  await expect.poll(() => world.session.traces()).toHaveLength(1);
  expect((await world.session.traces())[0]?.untrainable).toBe("client disconnected");
});
