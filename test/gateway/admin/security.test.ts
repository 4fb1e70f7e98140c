/** An agent that has a session's token and means harm. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { createGateway, type Gateway, type GatewayOptions } from "../../../src/gateway/index.ts";
import { redact } from "../../../src/util/redact.ts";
import { ownRoutes } from "../../../src/gateway/routes/admin/routes.ts";
import { createScriptedTarget } from "../../../src/testing/index.ts";
import { createTestGateway, gate, origin, userSays } from "../function-client.ts";

const open: Gateway[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
});

async function listen(options: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({
    target: createScriptedTarget(() => "ok"),
    model: "m",
    ...options,
  });
  open.push(gateway);
  const { port } = await gateway.listen();
  const session = await gateway.sessions.open({ uid: "mine", seed: 1, sampling: {} });
  const victim = await gateway.sessions.open({ uid: "victim", seed: 1, sampling: {} });
  return { gateway, port, session, victim };
}

/** Sends bytes and resolves with everything that comes back until the socket closes. */
function raw(port: number, parts: readonly string[], pauseMs = 0): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (data) => (text += data.toString()));
    socket.on("close", () => resolve(text));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET" || error.code === "EPIPE") resolve(text);
      else reject(error);
    });
    void (async () => {
      for (const part of parts) {
        if (socket.destroyed) return;
        socket.write(part);
        if (pauseMs > 0) await sleep(pauseMs);
      }
    })();
  });
}

describe("admin routes", () => {
  it("stay shut for tokens of sessions, whatever header carries them", async () => {
    const { gateway, open: openSession } = createTestGateway(() => "ok");
    const { apiKey } = await openSession();
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
    const disguises: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${apiKey}` },
      { authorization: basic(`admin:${apiKey}`) },
      { authorization: basic(gateway.adminToken) + "x" },
      { authorization: `Bearer ${gateway.adminToken.slice(0, -1)}` },
      { authorization: `Bearer ${apiKey} ${gateway.adminToken}` },
      { authorization: `Bearer ${apiKey}, Bearer ${gateway.adminToken}` },
      { "x-api-key": apiKey },
      { "x-forwarded-for": "127.0.0.1", "x-admin-token": gateway.adminToken },
      { cookie: `token=${gateway.adminToken}` },
    ];
    for (const { path, methods, isOpen } of ownRoutes) {
      if (isOpen === true) continue;
      for (const method of [...Object.keys(methods), "PATCH"]) {
        for (const headers of disguises) {
          const url = `${origin}/${path.replaceAll("*", "session-0")}`;
          const { status } = await gateway.fetch(new Request(url, { method, headers }));
          expect([path, method, headers, status]).toEqual([path, method, headers, 401]);
        }
      }
    }
    const password = { authorization: basic(`any:${gateway.adminToken}`) };
    expect(
      (await gateway.fetch(new Request(`${origin}/sessions`, { headers: password }))).status,
    ).toBe(200);
  });
});

describe("sockets", () => {
  it("cannot smuggle a second request past the first", async () => {
    const { port, session, victim } = await listen();
    const inner = `POST /sessions/victim/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${session.apiKey}\r\nContent-Length: 2\r\n\r\n{}`;
    const head = `POST /sessions/mine/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${session.apiKey}\r\nConnection: close\r\n`;
    const attacks = [
      `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Content-Length: 2\r\nContent-Length: 200\r\n\r\n{}${inner}`,
      `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}X: a\rAuthorization: Bearer ${victim.apiKey}x\r\nContent-Length: 2\r\n\r\n{}`,
      `POST /sessions/mine/v1/chat/completions\r\n/../../victim HTTP/1.1\r\n\r\n`,
    ];
    for (const attack of attacks) {
      const response = await raw(port, [attack]);
      const statuses = [...response.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
      expect([attack, statuses.length <= 1, statuses.includes("200")]).toEqual([
        attack,
        true,
        false,
      ]);
    }
    expect(await victim.traces()).toEqual([]);
    expect(await session.traces()).toEqual([]);
  });

  it("are cut when headers or a body trickle", async () => {
    const { port, session } = await listen({ bodyTimeoutMs: 300 });
    const head = `POST /sessions/mine/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${session.apiKey}\r\n`;
    const drip = Array.from({ length: 100 }, (_, i) => `X-${i}: y\r\n`);
    const body = Array.from({ length: 100 }, () => " ");
    const chunks = Array.from({ length: 100 }, () => "1\r\n \r\n");
    const responses = await Promise.all([
      raw(port, [head, ...drip], 50),
      raw(port, [`${head}Content-Length: 1000\r\n\r\n`, ...body], 50),
      raw(port, [`${head}Transfer-Encoding: chunked\r\n\r\n`, ...chunks], 50),
    ]);
    for (const response of responses) expect(response).toMatch(/^HTTP\/1\.1 408/);
    expect(await session.traces()).toEqual([]);
  });

  it("are cut when headers or bodies are huge", async () => {
    const { port, session } = await listen({ maxBodyBytes: 1000 });
    const head = `POST /sessions/mine/v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${session.apiKey}\r\n`;
    expect(await raw(port, [`${head}X: ${"y".repeat(20_000)}\r\n\r\n`])).toMatch(/^HTTP\/1\.1 431/);
    const declared = await raw(port, [`${head}Content-Length: 99999999999\r\n\r\n{`]);
    expect(declared).toMatch(/^HTTP\/1\.1 413/);
    const chunk = `${(600).toString(16)}\r\n${" ".repeat(600)}\r\n`;
    const chunked = await raw(port, [
      `${head}Transfer-Encoding: chunked\r\n\r\n`,
      chunk,
      chunk,
      chunk,
    ]);
    expect(chunked).toMatch(/^HTTP\/1\.1 413/);
  });

  it("open to other machines only with a chosen admin token", async () => {
    const target = createScriptedTarget(() => "ok");
    for (const host of ["0.0.0.0", "::", "192.168.1.1", "example.org"]) {
      await using gateway = createGateway({ target, model: "m" });
      await expect(gateway.listen({ host })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    }
    await using chosen = createGateway({ target, model: "m", adminToken: "chosen" });
    await chosen.listen({ host: "0.0.0.0" });
    await using local = createGateway({ target, model: "m" });
    await local.listen({ host: "localhost" });
  });
});

describe("limits", () => {
  it("bound the calls of one session, not those of others", async () => {
    const hold = gate();
    const most = 1024;
    const options = { beforeChunk: () => hold.opened };
    const { open: openSession, admin } = createTestGateway(() => "ok", options);
    const [greedy, other] = [await openSession(), await openSession()];
    const body = { messages: [userSays("x")] };
    const running = Array.from({ length: most }, () => greedy.post(body));
    const refused = await greedy.post(body);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await refused.json()).toMatchObject({ error: { code: "concurrency_limit_exceeded" } });
    const elsewhere = other.post(body);
    hold.open();
    const responses = await Promise.all([...running, elsewhere]);
    expect(responses.map(({ status }) => status)).toEqual(running.concat(elsewhere).map(() => 200));
    expect((await greedy.post(body)).status).toBe(200);
    const metrics = await (await admin("GET", "/metrics")).text();
    expect(metrics).toContain('requests_refused_total{reason="concurrency_limit_exceeded"} 1');
  });

  it("bound the number of sessions and the length of URLs", async () => {
    const options = { maxSessions: 2 };
    const { admin, gateway } = createTestGateway(() => "ok", {}, options);
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await admin("POST", "/sessions", {})).status);
    expect(statuses).toEqual([201, 201, 429]);
    const long = new Request(`${origin}/${"x".repeat(9000)}`);
    expect((await gateway.fetch(long)).status).toBe(414);
  });

  it("close idle sessions, but none that works", async () => {
    const hold = gate();
    const { admin, open: openSession } = createTestGateway(
      () => "ok",
      { beforeChunk: () => hold.opened },
      { sessionIdleMs: 60 },
    );
    const [busy, idle] = [await openSession(), await openSession()];
    const running = busy.post({ messages: [userSays("x")] });
    await expect.poll(async () => (await admin("GET", "/sessions/session-1")).status).toBe(404);
    expect((await idle.post({ messages: [userSays("x")] })).status).toBe(401);
    hold.open();
    expect((await running).status).toBe(200);
    await expect.poll(async () => (await admin("GET", "/sessions/session-0")).status).toBe(404);
    const metrics = await (await admin("GET", "/metrics")).text();
    expect(metrics).toContain("sessions_expired_total 2");
  });

  it("are checked where they are set", () => {
    const target = createScriptedTarget([]);
    const wrong: Partial<GatewayOptions>[] = [
      { maxSessions: 0 },
      { maxBytesInFlight: 1.5 },
      { maxBodyBytes: Number.NaN },
      { requestTimeoutMs: Infinity },
      { sessionIdleMs: -1 },
      { bodyTimeoutMs: 2 ** 31 },
      { keepAliveMs: 2 ** 29 },
    ];
    for (const options of wrong) {
      const [name] = Object.keys(options);
      expect(() => createGateway({ target, model: "m", ...options })).toThrow(name);
    }
  });
});

it("keys are taken out of what leaves by accident", async () => {
  const cases = [
    "Bearer abc.def-ghi123",
    "sk-proj-1234567890abcdef",
    "api_key=supersecretvalue",
    '{"authorization": "token12345678"}',
    "http://user:pa55word@host/v1",
    `session-${"x".repeat(43)}`,
  ];
  const secrets = [
    "abc.def-ghi123",
    "1234567890abcdef",
    "supersecretvalue",
    "token12345678",
    "pa55word",
    "xxxx",
  ];
  for (const [i, text] of cases.entries()) {
    expect(redact(`failed: ${text} at x`)).not.toContain(secrets[i]);
    expect(redact(`failed: ${text} at x`)).toContain("failed");
  }
  expect(redact("The token limit is 5; task-session-0 has 3")).toBe(
    "The token limit is 5; task-session-0 has 3",
  );
  const { open: openSession } = createTestGateway(() => "ok");
  const session = await openSession();
  const response = await session.post({
    messages: [userSays("x")],
    stop: `sk-${"a".repeat(40)}`,
    n: "sk-abcdefghijkl",
  });
  expect(response.status).toBe(400);
  expect(await response.text()).not.toContain("abcdefghijkl");
});
