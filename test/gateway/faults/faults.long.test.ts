/** What goes wrong with servers: what the client sees, what is captured, and that nothing is left behind. */
import { createServer } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createUpstream, type Fault, type Upstream } from "../../../src/testing/index.ts";
import { openWorld, renderer, type HttpWorld, type WorldOptions } from "../http-world.ts";

const messages = [{ role: "user", content: "q" }];
const said = "héllo wörld, this is the answer";

/** The first `times` calls fail, or all of them. */
function failing(fault: Fault, times = Infinity): Promise<Upstream> {
  return createUpstream({
    script: () => said,
    fault: (call) => (call < times ? fault : undefined),
  });
}

function open(upstream: Upstream, options: Partial<WorldOptions> = {}): Promise<HttpWorld> {
  return openWorld({
    workers: [{ url: upstream.url, id: "w" }],
    renderer,
    maxAttempts: 3,
    ...options,
  });
}

interface WireError {
  readonly error: { readonly code: string; readonly message: string };
}

async function errorOf(response: Response): Promise<WireError["error"]> {
  return ((await response.json()) as WireError).error;
}

async function contentOf(response: Response): Promise<string> {
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]?.message.content ?? "";
}

/** The text of a stream, and the error that ended it. */
async function readStream(
  response: Response,
): Promise<{ text: string; code?: string; done: boolean }> {
  const events = (await response.text()).split("\n\n").map((event) => event.replace(/^data: /, ""));
  let text = "";
  let code: string | undefined;
  for (const event of events.filter((each) => each.startsWith("{"))) {
    const value = JSON.parse(event) as Partial<WireError> & {
      choices?: { delta?: { content?: string } }[];
    };
    text += value.choices?.[0]?.delta?.content ?? "";
    code ??= value.error?.code;
  }
  return { text, done: events.includes("[DONE]"), ...(code === undefined ? {} : { code }) };
}

async function expectQuiet(world: HttpWorld, upstream: Upstream): Promise<void> {
  await expect.poll(() => upstream.active).toBe(0);
  expect(await world.admin("GET", "/sessions")).toMatchObject([{ calls_in_flight: 0 }]);
}

const whileTrying: readonly (readonly [string, Fault])[] = [
  ["a 500", { type: "status", status: 500 }],
  ["a 503 without a word", { type: "status", status: 503, body: "" }],
  ["a 429 with Retry-After", { type: "status", status: 429, headers: { "retry-after": "0.01" } }],
  ["a reset before the head", { type: "reset" }],
  ["a reset in the body", { type: "reset", after: 40 }],
  ["half a JSON", { type: "cut", after: 60 }],
  ["an error page", { type: "content-type", contentType: "text/html; charset=utf-8" }],
  ["a body that stalls", { type: "stall", after: 30 }],
];

/** After which a fault is one that waits; any other has all the time that a busy machine takes. */
function limitOf(fault: Fault): { readonly firstByteMs: number; readonly betweenBytesMs: number } {
  const ms = fault.type === "stall" ? 500 : 60_000;
  return { firstByteMs: ms, betweenBytesMs: ms };
}

const silence = ["no answer", { type: "stall" }] as const;

/** Where requests are written and answers read. */
const places = [
  { place: "this thread", offloadFrom: Infinity },
  { place: "the other thread", offloadFrom: 0 },
];

describe.each(places.flatMap((place) => [false, true].map((stream) => ({ ...place, stream }))))(
  "before the client has seen anything ($place, streamed: $stream)",
  ({ stream, offloadFrom }) => {
    // How long a whole answer may take to begin is the call's own deadline: the first byte comes last.
    const faults = stream ? [...whileTrying, silence] : whileTrying;
    it.each(faults)("%s is tried again, once captured", async (_name, fault) => {
      await using upstream = await failing(fault, 2);
      await using world = await open(upstream, {
        deadlines: limitOf(fault),
        requestTimeoutMs: 60_000,
        offloadFrom,
      });
      const response = await world.post({ messages, stream });
      expect(response.status).toBe(200);
      if (stream) expect(await readStream(response)).toEqual({ text: said, done: true });
      else expect(await contentOf(response)).toBe(said);
      expect(upstream.calls).toHaveLength(3);
      const traces = await world.session.traces();
      expect(traces).toHaveLength(1);
      expect(renderer.decode(traces[0]?.responseIds as Int32Array)).toBe(said);
      expect(traces[0]?.untrainable).toBeUndefined();
      await expectQuiet(world, upstream);
    });
  },
);

const final: readonly (readonly [string, Fault, number, string])[] = [
  ["500s", { type: "status", status: 500 }, 500, "upstream_failed"],
  ["503s", { type: "status", status: 503 }, 503, "upstream_failed"],
  ["429s", { type: "status", status: 429 }, 429, "rate_limit_exceeded"],
  ["resets", { type: "reset" }, 502, "upstream_unreachable"],
  ["error pages", { type: "content-type", contentType: "text/html" }, 502, "upstream_malformed"],
  [
    "answers that are something else",
    { type: "rewrite", rewrite: () => ({ hello: "world" }) },
    502,
    "upstream_cut",
  ],
];

describe.each(places)("without end ($place)", ({ offloadFrom }) => {
  it.each(final)("%s become one clear error and no trace", async (_name, fault, status, code) => {
    await using upstream = await failing(fault);
    await using world = await open(upstream, {
      deadlines: limitOf(fault),
      requestTimeoutMs: 60_000,
      offloadFrom,
    });
    for (const stream of [false, true]) {
      const response = await world.post({ messages, stream });
      const error = await errorOf(response);
      expect([response.status, error.code]).toEqual([status, code]);
      expect(error.message).toContain('"w"');
    }
    expect(await world.session.traces()).toEqual([]);
    await expectQuiet(world, upstream);
  });
});

it.each([
  [false, "upstream_malformed"],
  [true, "upstream_cut"],
])("half an answer is never taken for a whole one (streamed: %s)", async (stream, code) => {
  await using upstream = await failing({ type: "cut", after: 60 });
  await using world = await open(upstream);
  expect((await errorOf(await world.post({ messages, stream }))).code).toBe(code);
  expect(await world.session.traces()).toEqual([]);
});

describe.each(places)("once the client has seen something ($place)", ({ offloadFrom }) => {
  const late: readonly (readonly [string, Fault, string])[] = [
    ["a reset", { type: "reset", after: 1_500 }, "upstream_cut"],
    ["a stream that just ends", { type: "cut", after: 1_500 }, "upstream_cut"],
    ["a stall", { type: "stall", after: 1_500 }, "upstream_timeout"],
  ];
  it.each(late)(
    "%s is told in the stream, and nothing is tried again",
    async (_name, fault, code) => {
      await using upstream = await failing(fault);
      await using world = await open(upstream, { deadlines: limitOf(fault), offloadFrom });
      const response = await world.post({ messages, stream: true });
      expect(response.status).toBe(200);
      const seen = await readStream(response);
      expect(seen).toMatchObject({ code, done: false });
      expect(said.startsWith(seen.text)).toBe(true);
      expect(seen.text).not.toBe("");
      expect(upstream.calls).toHaveLength(1);
      expect(await world.session.traces()).toEqual([]);
      await expectQuiet(world, upstream);
    },
  );
});

describe("streams that are merely odd are read as what they are", () => {
  const odd: readonly (readonly [string, Fault])[] = [
    ["events twice", { type: "duplicate" }],
    ["comments, CRLF and unknown fields", { type: "noise" }],
    ["three bytes at a time, through characters", { type: "trickle", bytes: 3, everyMs: 0 }],
    ["a megabyte of nothing first", { type: "huge", bytes: 1_000_000 }],
  ];
  for (const tokenMode of ["cumulative", "server"] as const) {
    it.each(odd)(`%s (${tokenMode})`, async (_name, fault) => {
      await using upstream = await failing(fault);
      const own = tokenMode === "server" ? {} : { renderer };
      await using world = await openWorld({
        ...{ workers: [{ url: upstream.url }], tokenMode, ...own },
        requestTimeoutMs: 60_000,
      });
      const response = await world.post({ messages, stream: true });
      expect(await readStream(response)).toEqual({ text: said, done: true });
      const [trace] = await world.session.traces();
      expect(renderer.decode(trace?.responseIds as Int32Array)).toBe(said);
      expect(trace?.untrainable).toBeUndefined();
    });
  }
});

describe("answers without the whole truth", () => {
  type Wire = {
    choices: { token_ids?: unknown; logprobs?: unknown }[];
    prompt_token_ids?: unknown;
  };
  const lacking: readonly (readonly [string, (wire: Wire) => unknown, RegExp])[] = [
    [
      "no ids of the answer",
      (wire) => ({
        ...wire,
        choices: wire.choices.map((choice) => ({ ...choice, token_ids: null })),
      }),
      /no token ids of its answer/,
    ],
    ["no ids of the prompt", (wire) => ({ ...wire, prompt_token_ids: null }), /ids of the prompt/],
    [
      "no log-probabilities",
      (wire) => ({
        ...wire,
        choices: wire.choices.map((choice) => ({ ...choice, logprobs: null })),
      }),
      /no log-probability/,
    ],
    [
      "fewer ids than counted",
      (wire) => ({
        ...wire,
        choices: wire.choices.map((choice) => ({
          ...choice,
          token_ids: (choice.token_ids as number[]).slice(0, 5),
        })),
        usage: undefined,
      }),
      /ids it omitted/,
    ],
  ];
  it.each(lacking)(
    "%s: the client gets its answer, the trace says why",
    async (_name, rewrite, why) => {
      await using upstream = await failing({
        type: "rewrite",
        rewrite: (json) => rewrite(json as Wire),
      });
      await using world = await openWorld({
        workers: [{ url: upstream.url }],
        tokenMode: "server",
      });
      expect(await contentOf(await world.post({ messages }))).toBe(said);
      const [trace] = await world.session.traces();
      expect(trace?.untrainable).toMatch(why);
      expect(trace?.response.content).toBe(said);
    },
  );
});

it("an answer that is too large is cut off before it fills the memory", async () => {
  await using upstream = await failing({ type: "huge", bytes: 4_000_000 });
  await using world = await open(upstream, { maxResponseBytes: 1_000_000, maxAttempts: 1 });
  const error = await errorOf(await world.post({ messages }));
  expect(error).toMatchObject({ code: "upstream_malformed" });
  expect(error.message).toContain("more than 1000000 bytes");
  await expectQuiet(world, upstream);
});

it("a slow trickle is read to its end, but not past the call's deadline", async () => {
  await using upstream = await failing({ type: "trickle", bytes: 1, everyMs: 20 });
  await using world = await open(upstream, { requestTimeoutMs: 400 });
  const response = await world.post({ messages });
  expect(response.status).toBe(504);
  await expectQuiet(world, upstream);
});

it("a refused connection goes to another worker", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => closed.once("listening", done));
  const { port } = closed.address() as { port: number };
  await new Promise((done) => closed.close(done));
  await using upstream = await createUpstream({ script: () => said });
  const workers = [{ url: `http://127.0.0.1:${port}` }, { url: upstream.url }];
  await using world = await openWorld({ workers, renderer });
  for (let i = 0; i < 4; i++) {
    expect(await contentOf(await world.post({ messages }, { uid: `s${i}` }))).toBe(said);
  }
});

it("a wait that would outlast the call is not begun", async () => {
  await using upstream = await failing({
    type: "status",
    status: 429,
    headers: { "retry-after": "3600" },
  });
  await using world = await open(upstream);
  const response = await world.post({ messages });
  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "3600"]);
  expect(upstream.calls).toHaveLength(1);
});

describe("a clock that jumps", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("ends no call and takes no worker out", async () => {
    await using upstream = await failing({ type: "trickle", bytes: 100, everyMs: 20 });
    await using world = await open(upstream);
    const real = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: real });
    const running = world.post({ messages });
    // Under way for some hundred milliseconds.
    await expect.poll(() => upstream.active, { interval: 5 }).toBe(1);
    vi.setSystemTime(real - 86_400_000);
    expect((await running).status).toBe(200);
    vi.setSystemTime(real + 86_400_000);
    expect((await world.post({ messages })).status).toBe(200);
    const traces = await world.session.traces();
    expect(traces.map(({ sequence }) => sequence)).toEqual([0, 1]);
    for (const { startedAt, finishedAt } of traces)
      expect(finishedAt).toBeGreaterThanOrEqual(startedAt);
  });
});
