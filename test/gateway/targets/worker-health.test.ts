/** What takes a worker from other sessions, and what does not: bad answers are the trouble of one call. */
import { describe, expect, it } from "vitest";
import { createUpstream, type Fault, type UpstreamOptions } from "../../../src/testing/index.ts";
import { openWorld, renderer, serveHttp } from "../http-world.ts";

const messages = [{ role: "user", content: "q" }];
const image = [
  {
    role: "user",
    content: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }],
  },
];
const tools = [
  {
    type: "function",
    function: { name: "add", description: "adds", parameters: { type: "object" } },
  },
];

interface WireError {
  readonly error: { readonly code: string; readonly message: string };
}

async function contentOf(response: Response): Promise<string> {
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]?.message.content ?? "";
}

interface WireChoice {
  readonly delta: {
    readonly content?: string;
    readonly tool_calls?: readonly { function: { name?: string; arguments?: string } }[];
  };
  readonly finish_reason: string | null;
}

async function streamedChoices(response: Response): Promise<readonly WireChoice[]> {
  return (await response.text())
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .flatMap((event) => (JSON.parse(event.slice(6)) as { choices: WireChoice[] }).choices);
}

async function streamedText(response: Response): Promise<string> {
  return (await streamedChoices(response)).map(({ delta }) => delta.content ?? "").join("");
}

describe("llama.cpp's server", () => {
  const kind: NonNullable<UpstreamOptions["kind"]> = "llamacpp";

  it.each([
    ["server", false, /prompt/],
    ["server", true, /prompt/],
    ["cumulative", false, /no log-probability of some tokens/],
    ["cumulative", true, /no log-probability of some tokens/],
  ] as const)(
    "answers with an emoji: one call that is not trained on (%s, streamed: %s)",
    async (tokenMode, stream, why) => {
      await using upstream = await createUpstream({ kind, script: () => "fine 👍🏽 yes" });
      const own = tokenMode === "server" ? {} : { renderer };
      await using world = await openWorld({ workers: [{ url: upstream.url }], tokenMode, ...own });
      for (let i = 0; i < 5; i++) {
        const response = await world.post({ messages, stream });
        expect(response.status).toBe(200);
        const said = stream ? await streamedText(response) : await contentOf(response);
        expect(said).toBe("fine 👍🏽 yes");
      }
      expect(upstream.calls).toHaveLength(5);
      const traces = await world.session.traces();
      expect(traces.map(({ untrainable }) => untrainable)).toEqual(
        Array.from({ length: 5 }, () => expect.stringMatching(why)),
      );
      expect(traces[0]?.response.content).toBe("fine 👍🏽 yes");
    },
  );

  it("leaves out what belongs to a stop string: not trained on, and answered", async () => {
    await using upstream = await createUpstream({ kind, script: () => "one, two" });
    await using world = await openWorld({ workers: [{ url: upstream.url }] });
    for (let i = 0; i < 4; i++) {
      expect(await contentOf(await world.post({ messages, stop: [", t"] }))).toBe("one");
    }
    expect(upstream.calls).toHaveLength(4);
    const traces = await world.session.traces();
    expect(traces.every(({ untrainable }) => untrainable !== undefined)).toBe(true);
  });

  it("refuses an image in its own words, and answers other sessions meanwhile", async () => {
    await using upstream = await createUpstream({ kind, script: () => "ok" });
    await using world = await openWorld({ workers: [{ url: upstream.url, id: "w" }] });
    for (let i = 0; i < 4; i++) {
      const refused = await world.post({ messages: image }, { uid: `image${i}` });
      expect(refused.status).toBe(500);
      expect(refused.headers.get("x-should-retry")).toBe("false");
      const { error } = (await refused.json()) as WireError;
      expect(error.message).toBe(
        'The worker "w" responded with 500: image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
      );
      expect(await contentOf(await world.post({ messages }, { uid: `other${i}` }))).toBe("ok");
    }
  });

  it("is asked for the whole where tools are offered in a stream, and that is streamed", async () => {
    const call = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>';
    await using upstream = await createUpstream({ kind, script: () => `hi ${call}` });
    await using world = await openWorld({ workers: [{ url: upstream.url }] });
    const response = await world.post({ messages, tools, stream: true });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const choices = await streamedChoices(response);
    expect(choices.map(({ delta }) => delta.content ?? "").join("")).toBe("hi");
    const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(calls.map((each) => each.function.name ?? "").join("")).toBe("add");
    expect(JSON.parse(calls.map((each) => each.function.arguments ?? "").join(""))).toEqual({
      a: 1,
    });
    expect(choices.at(-1)?.finish_reason).toBe("tool_calls");
    expect(upstream.calls.map(({ body }) => [body["stream"], body["logprobs"]])).toEqual([
      [false, true],
    ]);
    const [trace] = await world.session.traces();
    expect(trace?.responseIds).toHaveLength(trace?.logprobs.length ?? -1);
    expect(trace?.responseIds.length).toBeGreaterThan(0);
  });
});

describe("a worker's own status", () => {
  const said = (status: number): Fault => ({
    type: "status",
    status,
    body: JSON.stringify({ error: { message: "out of cheese" } }),
  });

  it.each([
    [400, 400],
    [422, 422],
    [500, 500],
    [502, 502],
    [503, 503],
    [504, 504],
    [507, 507],
    // Of the gateway's own key and routes there, which are not the client's.
    [401, 502],
    [404, 502],
  ])("%i reaches the client as %i with its message", async (status, seen) => {
    await using upstream = await createUpstream({ script: () => "x", fault: () => said(status) });
    await using world = await openWorld({
      workers: [{ url: upstream.url, id: "w" }],
      maxAttempts: 2,
    });
    for (let i = 0; i < 3; i++) {
      const response = await world.post({ messages });
      expect(response.status).toBe(seen);
      const { error } = (await response.json()) as WireError;
      expect(error.message).toBe(`The worker "w" responded with ${status}: out of cheese`);
    }
  });

  it("5xx is tried at another worker first", async () => {
    await using broken = await createUpstream({ script: () => "x", fault: () => said(500) });
    await using well = await createUpstream({ script: () => "ok" });
    const workers = [{ url: broken.url }, { url: well.url }];
    await using world = await openWorld({ workers, renderer });
    for (let i = 0; i < 6; i++) {
      expect(await contentOf(await world.post({ messages }, { uid: `s${i}` }))).toBe("ok");
    }
    // Each call that began there went on elsewhere at once.
    expect(well.calls).toHaveLength(6);
    expect(broken.calls.length).toBeGreaterThan(0);
    expect(broken.calls.length).toBeLessThanOrEqual(6);
  });
});

describe("answers that cannot be read", () => {
  it.each<readonly [string, Fault]>([
    ["an error page", { type: "content-type", contentType: "text/html" }],
    ["half a JSON that ends as it should", { type: "cut", after: 60 }],
    ["something else", { type: "rewrite", rewrite: () => ({ hello: "world" }) }],
  ])("%s fails one call and no other", async (_name, fault) => {
    await using upstream = await createUpstream({
      script: () => "ok",
      fault: (call) => (call < 6 ? fault : undefined),
    });
    await using world = await openWorld({
      workers: [{ url: upstream.url }],
      renderer,
      maxAttempts: 3,
    });
    for (let i = 0; i < 2; i++) expect((await world.post({ messages })).status).toBe(502);
    expect((await world.post({ messages })).status).toBe(200);
  });
});

it("the only worker gets calls as long as it is well, however many fail", async () => {
  // Health checks are answered; only calls lose their connection.
  let isBroken = true;
  await using upstream = await createUpstream({
    script: () => "ok",
    fault: () => (isBroken ? { type: "reset" } : undefined),
  });
  await using world = await openWorld({
    workers: [{ url: upstream.url }],
    renderer,
    maxAttempts: 4,
    healthIntervalMs: 60_000,
  });
  for (let i = 0; i < 3; i++) {
    const { error } = (await (await world.post({ messages })).json()) as WireError;
    expect(error.code).toBe("upstream_unreachable");
  }
  isBroken = false;
  expect(await contentOf(await world.post({ messages }))).toBe("ok");
});

it.each([
  [200, 200],
  [401, 200],
  [404, 200],
  [429, 200],
  [500, 503],
  [503, 503],
])("a first health check with %i makes a call %i", async (status, expected) => {
  let checks = 0;
  await using server = await serveHttp((request, response) => {
    if (request.url === "/health") checks++;
    response.writeHead(request.method === "GET" ? status : 200, {
      "content-type": "application/json",
    });
    const message = { role: "assistant", content: "ok" };
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }] }));
  });
  await using world = await openWorld({
    workers: [{ url: server.url, kind: "vllm", modelName: "m" }],
    healthIntervalMs: 60_000,
  });
  await expect.poll(() => checks).toBe(1);
  await expect.poll(async () => (await world.post({ messages })).status).toBe(expected);
});
