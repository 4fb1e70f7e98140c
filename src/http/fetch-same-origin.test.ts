import { createServer, type IncomingMessage, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BridgeClient } from "../backends/verl/bridge-client.ts";
import { RayJobs } from "../backends/verl/ray-jobs.ts";
import { askJudge } from "../evaluators/judge/endpoint.ts";
import { createServerTeacher } from "../launch/teacher/server-teacher.ts";
import { mlflowRequests } from "../trackers/mlflow/api.ts";
import { requestJson } from "../environments/http.ts";
import { fetchLimited } from "../environments/mcp/mcp-source.ts";
import { fetchSameOrigin } from "./fetch-same-origin.ts";

const seen: { readonly server: string; readonly method: string; readonly text: string }[] = [];

async function listen(name: string, answer: (at: IncomingMessage) => readonly [number, string?]) {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      const { method = "", headers } = request;
      seen.push({ server: name, method, text: `${JSON.stringify(headers)} ${body}` });
      const [status, location] = answer(request);
      response.writeHead(status, location === undefined ? {} : { location }).end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

let thief: { server: Server; url: string };
let own: { server: Server; url: string };
beforeAll(async () => {
  thief = await listen("thief", () => [200]);
  own = await listen("own", ({ url = "" }) => {
    const status = Number(/\/(30\d)\/away/u.exec(url)?.[1] ?? 307);
    if (url.includes("/near")) return [Number(/\/(30\d)\/near/u.exec(url)![1]), "/there"];
    if (url.includes("/loop")) return [308, "/loop"];
    return url.includes("/there") ? [200] : [status, `${thief.url}/stolen`];
  });
});
afterAll(() => {
  thief.server.close();
  own.server.close();
});

const secret = "secret-of-a-test";
const headers = { "x-api-key": secret, "x-secrets": secret, authorization: `Bearer ${secret}` };
const { signal } = new AbortController();

describe("a redirect to another origin", () => {
  it.each([301, 302, 303, 307, 308])("gets nothing with status %i", async (status) => {
    const sent = fetchSameOrigin(`${own.url}/${status}/away`, {
      method: "POST",
      headers,
      body: secret,
    });
    await expect(sent).rejects.toThrow(`redirects to ${thief.url}, which gets no keys`);
  });

  it.each<readonly [string, () => Promise<unknown>]>([
    ["an environment", () => requestJson({ url: `${own.url}/create`, headers, body: { secret } })],
    [
      "an MCP server",
      () => fetchLimited(`${own.url}/mcp`, { method: "POST", headers, body: secret }),
    ],
    [
      "MLflow",
      () =>
        mlflowRequests({ url: own.url, authorization: `Bearer ${secret}` })(
          "POST",
          "runs/create",
          { secret },
          AbortSignal.timeout(1000),
        ),
    ],
    [
      "a teacher",
      () =>
        createServerTeacher({
          url: own.url,
          apiKey: secret,
          model: null,
          timeoutMs: 1000,
          concurrency: 1,
          maxAttempts: 1,
        }).start(null, signal),
    ],
    [
      "a judge",
      () => {
        const endpoint = { baseUrl: own.url, model: "m", apiKey: secret, retries: 0 };
        return askJudge(endpoint, "system", "user", () => 1);
      },
    ],
    ["verl's bridge", () => new BridgeClient({ url: own.url, token: secret }).get("/info")],
    ["Ray", () => new RayJobs(own.url, secret).version()],
  ])("of %s gets no key", async (_name, send) => {
    const error = await send().then(
      () => new Error("It was followed."),
      (thrown: unknown) => thrown as Error,
    );
    expect(`${error.message} ${String(error.cause)}`).toContain("which gets no keys");
    expect(seen.some(({ server, text }) => server === "own" && text.includes(secret))).toBe(true);
  });

  it("was never followed", () => {
    expect(seen.filter(({ server }) => server === "thief")).toEqual([]);
  });
});

it.each([
  [301, "GET"],
  [302, "GET"],
  [303, "GET"],
  [307, "POST"],
  [308, "POST"],
])("within the origin, status %i is followed as fetch does it, with %s", async (status, method) => {
  const at = `${own.url}/${status}/near`;
  const all = [];
  for (const send of [fetchSameOrigin, fetch]) {
    seen.length = 0;
    const response = await send(at, { method: "POST", headers, body: "x" });
    expect(response.status).toBe(200);
    all.push(seen.map((one) => [one.method, one.text]));
    expect(seen.at(-1)!.method).toBe(method);
  }
  expect(all[0]).toEqual(all[1]);
});

it("ends", async () => {
  await expect(fetchSameOrigin(`${own.url}/loop`)).rejects.toThrow("more than 5 times");
});
