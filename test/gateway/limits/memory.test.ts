/** Many large bodies at once: the process lives, and every client has an answer of its protocol. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../../src/gateway/http/body-budget.ts";
import { createGateway } from "../../../src/gateway/index.ts";
import { bundleProgram } from "../../bundle-program.ts";
import { createScriptedTarget } from "../../../src/testing/index.ts";

const mebibyte = 2 ** 20;

interface Started {
  readonly url: string;
  readonly sessions: readonly { readonly baseUrl: string; readonly apiKey: string }[];
}

describe("60 bodies at once, of more bytes than the heap has", () => {
  it("are answered, refused or told to come again, and the process lives", async () => {
    const heapMiB = 160;
    const running = spawn(
      process.execPath,
      [
        `--max-old-space-size=${heapMiB}`,
        await bundleProgram(join(import.meta.dirname, "memory-child.ts")),
        JSON.stringify({ maxBodyBytes: 4 * mebibyte }),
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    const [line] = (await once(createInterface(running.stdout), "line")) as [string];
    const { url, sessions } = JSON.parse(line) as Started;
    // 60 times 3 MiB as text, and more as values.
    const body = JSON.stringify({
      model: "m",
      prompt: Array.from({ length: 1.5 * mebibyte }, () => 1),
    });
    expect(60 * body.length).toBeGreaterThan(heapMiB * mebibyte);
    const responses = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const { baseUrl, apiKey } = sessions[i % sessions.length]!;
        const response = await fetch(`${baseUrl}/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
          body,
        });
        return {
          status: response.status,
          retry: response.headers.get("retry-after"),
          body: await response.json(),
        };
      }),
    );
    expect(running.exitCode).toBeNull();
    const refused = responses.filter(({ status }) => status === 400);
    expect(refused.length).toBeGreaterThan(10);
    for (const response of responses) {
      if (response.status === 400) {
        expect(response.body).toMatchObject({ error: { message: "No." } });
        continue;
      }
      expect([429, 503]).toContain(response.status);
      expect(response).toMatchObject({
        retry: "1",
        body: { error: { code: "bytes_in_flight_exceeded" } },
      });
    }
    expect((await fetch(`${url}/health`)).status).toBe(200);
    running.stdin.end();
    await once(running, "exit");
  });
});

describe("BodyBudget", () => {
  const limits = {
    maxBytesInFlight: 100,
    maxBodyBytes: 80,
    bodyTimeoutMs: 200,
  };
  const request = (bytes: number, headers: Record<string, string> = {}): Request =>
    new Request("http://x", {
      method: "POST",
      headers: { "content-length": String(bytes), ...headers },
    });

  it("holds bytes until the request and what it began have ended", async () => {
    const budget = new BodyBudget(limits);
    const lease = await budget.admit("a", request(50));
    let finish = (): void => undefined;
    lease.until(new Promise<void>((resolve) => (finish = resolve)));
    lease.end();
    expect(budget.held).toBe(50);
    finish();
    await new Promise((resolve) => setImmediate(resolve));
    expect(budget.held).toBe(0);
  });

  it("lets others wait in order, and refuses those whose time is over or whose client has left", async () => {
    const budget = new BodyBudget(limits);
    const first = await budget.admit("a", request(60));
    const order: string[] = [];
    const second = budget.admit("b", request(50)).then((lease) => (order.push("b"), lease));
    const third = budget.admit("c", request(10)).then((lease) => (order.push("c"), lease));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([budget.held, order]).toEqual([60, []]);
    first.end();
    (await second).end();
    (await third).end();
    expect([budget.held, order]).toEqual([0, ["b", "c"]]);
    const fourth = await budget.admit("a", request(60));
    await expect(budget.admit("b", request(50))).rejects.toMatchObject({
      status: 503,
      retryAfterS: 1,
    });
    const left = new AbortController();
    const fifth = budget.admit("b", new Request(request(50), { signal: left.signal }));
    left.abort();
    await expect(fifth).rejects.toMatchObject({ status: 503 });
    fourth.end();
    // Nothing is left behind: the session has its share again.
    (await budget.admit("b", request(60))).end();
    expect(budget.held).toBe(0);
  });

  it("refuses a session beyond its share at once, but never its only request", async () => {
    const budget = new BodyBudget(limits);
    const big = await budget.admit("a", request(80));
    await expect(budget.admit("a", request(1))).rejects.toMatchObject({
      status: 429,
      reason: "bytes_in_flight_exceeded",
    });
    (await budget.admit("b", request(20))).end();
    big.end();
    expect(budget.held).toBe(0);
  });

  it("takes what is packed for as large as it may become, and leaves what is too large to be refused", async () => {
    const budget = new BodyBudget(limits);
    const packed = await budget.admit("a", request(5, { "content-encoding": "gzip" }));
    expect(budget.held).toBe(80);
    packed.end();
    const large = await budget.admit("a", request(81));
    expect(budget.held).toBe(0);
    large.end();
  });
});

describe("a body without a declared size", () => {
  it("is counted as it arrives", async () => {
    const gateway = createGateway({
      target: createScriptedTarget(() => "ok"),
      model: "m",
      maxBytesInFlight: 1000,
    });
    const { port } = await gateway.listen();
    const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
    const path = new URL(`${session.baseUrl}/chat/completions`).pathname;
    const send = (length: number): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(port, "127.0.0.1");
        let text = "";
        socket.on("data", (data) => {
          text += data.toString();
          if (/\r\n\r\n[\s\S]*\}/.test(text)) socket.destroy();
        });
        socket.on("close", () => resolve(text));
        socket.on("error", reject);
        const body = JSON.stringify({ messages: [{ role: "user", content: "x".repeat(length) }] });
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${session.apiKey}\r\ntransfer-encoding: chunked\r\n\r\n`,
        );
        const half = Math.floor(body.length / 2);
        for (const piece of [body.slice(0, half), body.slice(half)])
          socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
        socket.write("0\r\n\r\n");
      });
    expect(await send(700)).toMatch(/^HTTP\/1\.1 200/);
    const refused = await send(3000);
    expect(refused).toMatch(/^HTTP\/1\.1 (?:429|503)/);
    expect(refused).toContain("bytes_in_flight_exceeded");
    expect(await send(700)).toMatch(/^HTTP\/1\.1 200/);
    await gateway.close();
  });
});
