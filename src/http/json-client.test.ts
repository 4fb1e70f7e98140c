import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HttpFault } from "./http-fault.ts";
import { JsonClient, type JsonClientOptions } from "./json-client.ts";

type Respond = (response: ServerResponse, request: IncomingMessage, count: number) => void;

let respond: Respond;
let count = 0;
let url = "";
const server = createServer((request, response) => respond(response, request, ++count));
beforeEach(async () => {
  count = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

const clientOf = (options: Partial<JsonClientOptions> = {}): JsonClient =>
  new JsonClient({ baseUrl: url, timeoutMs: 60_000, maxBytes: 1000, ...options });

const faultOf = (sent: Promise<unknown>): Promise<HttpFault> =>
  sent.then(
    () => Promise.reject(new Error("It was accepted.")),
    (error: unknown) => error as HttpFault,
  );

const soon = { tries: 3, firstMs: 1 };

describe("JsonClient", () => {
  it("sends JSON and bytes with their types, and the key", async () => {
    const seen: unknown[] = [];
    respond = (response, request) => {
      const { method, headers } = request;
      seen.push([method, headers["content-type"], headers.authorization]);
      response.end('{"a":1}');
    };
    const client = clientOf({ key: "k" });
    expect(await client.json({ path: "/x" })).toEqual({ a: 1 });
    await client.json({ path: "/x", body: { b: 2 } });
    await client.json({ path: "/x", body: new Uint8Array(3), method: "PUT" });
    expect(seen).toEqual([
      ["GET", undefined, "Bearer k"],
      ["POST", "application/json", "Bearer k"],
      ["PUT", "application/octet-stream", "Bearer k"],
    ]);
  });

  it.each([408, 425, 429, 500, 502, 503, 504])("tries status %i again", async (status) => {
    respond = (response, _request, at) => {
      response.statusCode = at < 3 ? status : 200;
      response.end("{}");
    };
    expect(await clientOf({ retry: soon }).json({ path: "/" })).toEqual({});
    expect(count).toBe(3);
  });

  it("gives up after its tries, with the caller's error", async () => {
    respond = (response) => response.writeHead(503).end("busy");
    const toError = (fault: HttpFault, { path }: { path: string }, tries: number): Error =>
      new RangeError(`${path} ${fault.message}, ${tries} times`);
    await expect(clientOf({ retry: soon, toError }).json({ path: "/p" })).rejects.toThrow(
      new RangeError("/p responded with status 503: busy, 3 times"),
    );
  });

  it.each([400, 401, 404, 409, 422])("does not try status %i again", async (status) => {
    respond = (response) => response.writeHead(status).end("no");
    const fault = await faultOf(clientOf({ retry: soon }).json({ path: "/" }));
    expect(fault).toMatchObject({ kind: "status", status, text: "no" });
    expect(count).toBe(1);
  });

  it("tries a call once that says so", async () => {
    respond = (response) => response.writeHead(503).end();
    await faultOf(clientOf({ retry: soon }).json({ path: "/", once: true }));
    expect(count).toBe(1);
  });

  it("waits as long as it is asked to, up to a limit", async () => {
    respond = (response, _request, at) => {
      response.writeHead(at === 1 ? 429 : 200, { "retry-after": "3600" }).end("{}");
    };
    const start = performance.now();
    await clientOf({ retry: { ...soon, firstMs: 60_000, maxRetryAfterMs: 50 } }).json({
      path: "/",
    });
    expect(performance.now() - start).toBeGreaterThanOrEqual(49);
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it("tries half a response and no JSON again", async () => {
    respond = (response, _request, at) => {
      if (at === 1) response.writeHead(200, { "content-length": "10" }).write("{");
      if (at === 1) setTimeout(() => response.destroy(), 5);
      else response.end(at === 2 ? "<html>" : "[]");
    };
    expect(await clientOf({ retry: soon }).json({ path: "/" })).toEqual([]);
  });

  it("shows the service's words without keys, and not all of them", async () => {
    const key = "a-key-of-no-known-form";
    respond = (response) => {
      const said = `no: ${key} sk-1234567890abcdef ${"x".repeat(5000)}`;
      response.writeHead(403).end(said);
    };
    const client = clientOf({ key, headers: { "x-api-key": `${key}-2` } });
    const { message, text } = await faultOf(client.json({ path: "/" }));
    expect(message).toMatch(/^responded with status 403: no: \[redacted\] \[redacted\] x+$/u);
    expect(message.length).toBeLessThan(550);
    expect(text).not.toContain(key);
  });

  it("reads no more than it may", async () => {
    respond = (response) => response.end("x".repeat(1001));
    const fault = await faultOf(clientOf({ retry: soon }).json({ path: "/" }));
    expect(fault).toMatchObject({
      kind: "too-large",
      message: "responded with more than 1000 bytes",
    });
    expect(count).toBe(1);
  });

  it("ends the error page that never ends", async () => {
    respond = (response) => {
      response.writeHead(500);
      const write = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", write);
      write();
    };
    const { text } = await faultOf(clientOf().json({ path: "/" }));
    expect(text.length).toBeLessThanOrEqual(2 ** 20);
  });

  it("has a deadline for the whole response", async () => {
    respond = (response) => void response.writeHead(200).write("{");
    const fault = await faultOf(clientOf({ timeoutMs: 50 }).json({ path: "/" }));
    expect(fault).toMatchObject({ kind: "late", message: "did not respond within 50 ms" });
  });

  it("rejects with the reason of an abort, during a try and between two", async () => {
    const reason = new Error("enough");
    for (const status of [0, 503]) {
      respond = (response) => {
        if (status > 0) response.writeHead(status).end();
      };
      const abort = new AbortController();
      setTimeout(() => abort.abort(reason), 30);
      const retry = { ...soon, firstMs: 60_000 };
      const { signal } = abort;
      await expect(clientOf({ retry }).json({ path: "/", signal })).rejects.toBe(reason);
    }
  });

  it("names what cannot be reached, and what leads elsewhere", async () => {
    const away = new JsonClient({ baseUrl: "http://127.0.0.1:9", timeoutMs: 60_000, maxBytes: 1 });
    expect(await faultOf(away.json({ path: "/" }))).toMatchObject({
      kind: "unreachable",
      message: expect.stringContaining("cannot be reached: ") as string,
    });
    respond = (response) => response.writeHead(307, { location: "http://other.test/" }).end();
    const fault = await faultOf(clientOf({ key: "k", retry: soon }).json({ path: "/" }));
    expect(fault).toMatchObject({ kind: "redirect" });
    expect(fault.message).toContain("redirects to http://other.test, which gets no keys");
    expect(count).toBe(1);
  });

  it("takes statuses that the call accepts for results", async () => {
    respond = (response) => response.writeHead(404).end();
    const call = { path: "/", accept: (status: number) => status === 404 };
    expect(await clientOf().request(call, ({ status }) => status)).toBe(404);
  });
});
