/** Faults that users of other gateways met, and that have no better place among the tests. */
import { expect, it } from "vitest";
import { createUpstream, type Script } from "../../../src/testing/index.ts";
import { responseProbe, openWorld, renderer, serveHttp } from "../http-world.ts";

/** The last answer again when there are more calls. */
const scriptOf =
  (responses: readonly string[]): Script =>
  ({ index }) =>
    responses[Math.min(index, responses.length - 1)] ?? "";

const messages = [{ role: "user", content: "hi" }];

it("W49: a client that wants no log-probabilities does not switch capture off", async () => {
  await using upstream = await createUpstream({ script: scriptOf(["ok"]), contextLength: 1_000 });
  const { url } = upstream;
  for (const tokenMode of ["server", "cumulative"] as const) {
    const own = tokenMode === "server" ? {} : { renderer };
    await using world = await openWorld({ workers: [{ url }], tokenMode, ...own });
    const requested = { messages, logprobs: false, return_token_ids: false, stream: false };
    expect((await world.post(requested)).status).toBe(200);
    const [trace] = await world.session.traces();
    expect(trace?.responseIds).toHaveLength(3);
    expect(trace?.logprobs).toHaveLength(3);
    expect(trace?.untrainable).toBeUndefined();
  }
});

it("W50: a later turn keeps tools, and has as much room as the first", async () => {
  const long = "word ".repeat(40);
  await using upstream = await createUpstream({
    script: scriptOf(["first", long]),
    contextLength: 4_000,
  });
  const { url, calls } = upstream;
  await using world = await openWorld({ workers: [{ url }], renderer });
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  await world.post({ messages, tools });
  const later = [...messages, { role: "assistant", content: "first" }, ...messages];
  const response = (await (await world.post({ messages: later, tools })).json()) as {
    choices: { finish_reason: string; message: { content: string } }[];
  };
  // vLLM draws 16 tokens where nothing is said.
  expect(response.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: long } });
  const [first, second] = await world.session.traces();
  expect(second?.parentId).toBe(first?.id);
  expect(renderer.decode(second?.promptIds as Int32Array)).toContain('"name":"f"');
  expect(calls[1]?.body["max_tokens"]).toBeGreaterThan(3_000);
});

it("W50: parallel branches do not disturb each other", async () => {
  await using upstream = await createUpstream({ script: scriptOf(["same"]), contextLength: 4_000 });
  const { url } = upstream;
  await using world = await openWorld({ workers: [{ url }], renderer });
  const turn = (text: string) => [{ role: "user", content: text }];
  await world.post({ messages: turn("a") });
  await world.post({ messages: turn("b") });
  const go = (text: string) =>
    world.post({
      messages: [...turn(text), { role: "assistant", content: "same" }, ...turn("on")],
    });
  await Promise.all([go("a"), go("b"), go("a"), go("b")]);
  const traces = await world.session.traces();
  const roots = traces.filter(({ parentId }) => parentId === null);
  expect(roots).toHaveLength(2);
  for (const trace of traces.slice(2)) {
    const root = roots.find(({ id }) => id === trace.parentId);
    expect(trace.messages[0]).toEqual(root?.messages[0]);
  }
});

it("W52: an error page becomes a clear error, and no trace", async () => {
  await using server = await serveHttp((request, response) => {
    if (responseProbe(request, response)) return;
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>It works!</h1>");
  });
  await using world = await openWorld({ workers: [{ url: server.url }], maxAttempts: 2 });
  const response = await world.post({ messages });
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({
    error: { code: "upstream_malformed", message: expect.stringContaining("text/html") },
  });
  expect(await world.session.traces()).toEqual([]);
});

it("W52: Retry-After reaches the client, and no worker to send to is a 503", async () => {
  await using server = await serveHttp((request, response) => {
    if (responseProbe(request, response)) return;
    response.writeHead(429, { "retry-after": "17" }).end("{}");
  });
  await using busy = await openWorld({ workers: [{ url: server.url }] });
  const refused = await busy.post({ messages });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "17"]);
  await using empty = await openWorld({ workers: [] });
  const nobody = await empty.post({ messages });
  expect(nobody.status).toBe(503);
  expect(await nobody.json()).toMatchObject({ error: { code: "no_healthy_worker" } });
});

it("W53: a worker whose requests fail is left alone, and tries wait in between", async () => {
  let calls = 0;
  await using broken = await serveHttp((request, response) => {
    if (responseProbe(request, response)) return;
    calls++;
    response.writeHead(500).end("{}");
  });
  await using upstream = await createUpstream({ script: scriptOf(["ok"]), contextLength: 1_000 });
  const { url } = upstream;
  const workers = [
    { url: broken.url, id: "broken", modelName: "scripted" },
    { url, id: "well" },
  ];
  await using world = await openWorld({ workers, healthIntervalMs: 60_000 });
  for (let i = 0; i < 12; i++) {
    const response = await world.post({ messages }, { uid: `w${i}` });
    expect(response.status).toBe(200);
  }
  // The first check of its health may end after the first call.
  expect(calls).toBeLessThanOrEqual(2);
});

it("D23: a connection that the server had closed is no failure of the call", async () => {
  await using upstream = await createUpstream({ script: scriptOf(["ok"]), contextLength: 1_000 });
  const { url } = upstream;
  let opened = 0;
  // Closes every connection after its first answer, without saying so in a header.
  await using proxy = await serveHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      void fetch(url + (request.url ?? ""), {
        method: request.method ?? "GET",
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      }).then(async (answer) => {
        const body = Buffer.from(await answer.arrayBuffer());
        const type = answer.headers.get("content-type") ?? "text/plain";
        response.writeHead(answer.status, { "content-type": type, "content-length": body.length });
        response.end(body, () => setTimeout(() => request.socket.destroy(), 5));
      });
    });
  });
  proxy.server.on("connection", () => opened++);
  await using world = await openWorld({ workers: [{ url: proxy.url }], maxAttempts: 2 });
  for (let i = 0; i < 8; i++) {
    expect((await world.post({ messages })).status).toBe(200);
    await new Promise((done) => setTimeout(done, i));
  }
  expect(opened).toBeGreaterThan(2);
  expect(await world.session.traces()).toHaveLength(8);
});
