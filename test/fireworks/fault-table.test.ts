/**
 * The fault table of the API, row by row, at every route: no step is made twice, none is lost, and no
 * session is left behind.
 */
import { expect, it } from "vitest";
import {
  createFireworksClient,
  FireworksError,
  type FireworksClient,
  type FireworksClientOptions,
} from "../../src/backends/fireworks/index.ts";
import { createFloatTensor, createIdTensor } from "../../src/tinker-api/codec/tensor.ts";
import type { Datum } from "../../src/tinker-api/messages.ts";
import { createRandom } from "../../src/util/random.ts";
import { countedSleep, fail, FireworksStandIn, stream, type Fault } from "./stand-in.ts";
import { yes } from "./toy-policy.ts";

const datum: Datum = {
  tokens: Int32Array.of(1, 2),
  lossInputs: {
    target_tokens: createIdTensor(Int32Array.of(2, yes)),
    weights: createFloatTensor(Float32Array.of(0, 1)),
  },
};

interface Setup {
  readonly server: FireworksStandIn;
  readonly waits: number[];
  readonly warnings: string[];
  connect(options?: FireworksClientOptions): Promise<FireworksClient>;
}

function setUp(): Setup {
  const server = new FireworksStandIn();
  const { waits, sleep } = countedSleep();
  const warnings: string[] = [];
  return {
    server,
    waits,
    warnings,
    connect: (options = {}) =>
      createFireworksClient({
        baseUrl: "http://fireworks.test",
        apiKey: "fw_test",
        fetch: server.fetch,
        sleep,
        onWarning: (text) => warnings.push(text),
        ...options,
      }),
  };
}

/** Three steps, a state that is restored, samples: all routes of the API. */
async function trainThreeSteps({ server, connect }: Setup): Promise<unknown> {
  const client = await connect();
  try {
    const model = await client.createModel({ baseModel: "m", rank: 8 });
    const results: Promise<unknown>[] = [];
    for (let step = 0; step < 3; step++) {
      results.push(model.forwardBackward([datum, datum], "cross_entropy"));
      results.push(model.optimStep({ learningRate: 0.5 }));
    }
    const metrics = await Promise.all(results);
    const state = await model.saveState("state-1");
    await model.loadState(state, true);
    const sampler = client.createSampler(await model.saveForSampler("v1"));
    const { tokens } = await sampler.sample(Int32Array.of(1, 2), { maxTokens: 2, seed: 3 });
    const scores = await sampler.computeLogprobs(Int32Array.of(1, yes));
    await client.checkpointNames();
    const { weight, steps } = [...server.models.values()][0]!;
    await model.unload();
    return { metrics, tokens, scores, weight, steps };
  } finally {
    await client.delete();
    // Nothing is left, whatever happened.
    expect([...server.sessions]).toEqual([]);
  }
}

const capacity = { error: { code: "capacity_exhausted", message: "trainer at capacity" } };

/** What goes wrong once, and is gone at the next attempt. */
const passing: readonly (readonly [string, () => Fault])[] = [
  ["a request that never arrives", () => "refused"],
  ["a response that is lost", () => "lost"],
  ["408", () => fail(408, {})],
  ["429", () => fail(429, { error: { message: "slow down" } })],
  ["500", () => fail(500, { error: { message: "internal" } })],
  ["503", () => new Response("upstream connect error", { status: 503 })],
  ["402, a billing pause", () => fail(402, { error: { message: "billing is paused" } })],
  ["409, no capacity", () => fail(409, capacity)],
];

/** With and without ids. */
const routeOf = (path: string): string =>
  path
    .replace(/\?.*$/u, "")
    .replace(/^\/training\/v1\/serverless\/(?:api\/v1\/)?/u, "")
    .replace(/ts-[0-9a-f]+/u, "SESSION");

it.each(passing)(
  "ends where a run without faults ends: %s, at every route once",
  async (_, make) => {
    const expected = await trainThreeSteps(setUp());
    expect(expected).toMatchObject({ steps: 3 });
    const setup = setUp();
    const hit = new Set<string>();
    const is402or409 = /40[29]/u.test(_);
    setup.server.fault = ({ path, method }) => {
      const route = `${method} ${routeOf(path)}`;
      if (hit.has(route)) return null;
      // Sampling takes no billing pause or conflict.
      if (is402or409 && route.includes("completions")) return null;
      hit.add(route);
      return make();
    };
    expect(await trainThreeSteps(setup)).toEqual(expected);
    expect([...hit].filter((route) => !route.includes("completions")).toSorted()).toEqual([
      "DELETE /v1/accounts/demo/trainingSessions/SESSION",
      "GET /v1/accounts",
      "GET list_checkpoints",
      "POST create_model",
      "POST create_session",
      "POST forward_backward",
      "POST load_weights",
      "POST optim_step",
      "POST retrieve_future",
      "POST save_weights",
      "POST save_weights_for_sampler",
      "POST unload_model",
    ]);
  },
);

it.each([1, 2, 3, 4])(
  "ends there with any of them at a third of all requests (seed %i)",
  async (seed) => {
    const expected = await trainThreeSteps(setUp());
    const setup = setUp();
    const random = createRandom(seed);
    const kinds = passing.slice(0, 6);
    setup.server.fault = ({ path, method }) => {
      // A session's deletion is tried five times, sampling seven times.
      if (method === "DELETE" || path.includes("completions")) return null;
      return random() < 1 / 3 ? kinds[Math.floor(random() * kinds.length)]![1]() : null;
    };
    expect(await trainThreeSteps(setup)).toEqual(expected);
  },
);

it("renews a promise that is lost by the original request under its key, and steps once", async () => {
  const expected = await trainThreeSteps(setUp());
  const setup = setUp();
  const { server } = setup;
  const forgotten = new Set<string>();
  server.fault = ({ path, body }) => {
    const id = body?.["request_id"] as string;
    // Every promise is lost once: those that renew it are not.
    if (
      routeOf(path) === "retrieve_future" &&
      forgotten.size < 40 &&
      Number(id.slice(4)) % 2 === 0
    ) {
      forgotten.add(id);
      server.forget(id);
    }
    return null;
  };
  expect(await trainThreeSteps(setup)).toEqual(expected);
  expect(forgotten.size).toBeGreaterThan(4);
  const steps = server.requests.filter(({ path }) => routeOf(path) === "optim_step");
  const keys = new Map<unknown, Set<string | null>>();
  for (const { body, headers } of steps) {
    const seq = body!["seq_id"];
    keys.set(seq, (keys.get(seq) ?? new Set()).add(headers.get("x-idempotency-key")));
  }
  expect(steps.length).toBeGreaterThan(3);
  expect([...keys.values()].map((own) => own.size)).toEqual([1, 1, 1]);
});

it("gives up on a promise that is lost again and again", async () => {
  const setup = setUp();
  setup.server.fault = ({ path }) =>
    routeOf(path) === "retrieve_future" ? fail(410, { error: { message: "gone" } }) : null;
  await expect(trainThreeSteps(setup)).rejects.toThrow("status 410: gone");
});

it("asks for the payload where the first response has only metadata", async () => {
  const setup = setUp();
  setup.server.fault = ({ path, body }) =>
    routeOf(path) === "retrieve_future" && body!["allow_metadata_only"] === true
      ? Response.json({ status: "complete_metadata", response_payload_size: 123 })
      : null;
  expect(await trainThreeSteps(setup)).toMatchObject({ steps: 3 });
});

it.each(["user", "server", "unknown"])(
  "raises a failure of category %s, and does not step",
  async (category) => {
    const setup = setUp();
    const { server } = setup;
    const client = await setup.connect();
    const model = await client.createModel({ baseModel: "m", rank: 8 });
    server.fault = ({ path }) =>
      routeOf(path) === "retrieve_future"
        ? Response.json({ error: "token out of range", category, error_class: "ValueError" })
        : null;
    const failed = model.forwardBackward([datum], "cross_entropy");
    await expect(failed).rejects.toThrow(`(${category}): token out of range`);
    await expect(failed).rejects.toMatchObject({ code: "FIREWORKS_FAILED" });
    expect([...server.models.values()][0]!.steps).toBe(0);
    await client.delete();
  },
);

it("polls a stray 400 again, and gives up at the third", async () => {
  const setup = setUp();
  let bad = 2;
  setup.server.fault = ({ path }) =>
    routeOf(path) === "retrieve_future" && bad-- > 0
      ? fail(400, { error: { message: "bad" } })
      : null;
  expect(await trainThreeSteps(setup)).toMatchObject({ steps: 3 });
  const other = setUp();
  other.server.fault = ({ path }) =>
    routeOf(path) === "retrieve_future" ? fail(400, { error: { message: "bad" } }) : null;
  await expect(trainThreeSteps(other)).rejects.toThrow("status 400: bad");
  const polls = other.server.requests.filter(({ path }) => routeOf(path) === "retrieve_future");
  expect(polls).toHaveLength(3);
});

it("backs off from a server that is overloaded or away: 1, 2, 4 ... 30 s", async () => {
  const setup = setUp();
  let left = 7;
  setup.server.fault = ({ path }) =>
    routeOf(path) === "create_session" && left-- > 0 ? fail(429, {}) : null;
  const client = await setup.connect();
  expect(setup.waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect(setup.warnings[0]).toContain("create_session: trying again.");
  await client.delete();
});

it("waits out a billing pause for an hour, in steps of 5 s", async () => {
  const setup = setUp();
  setup.server.fault = ({ path }) =>
    routeOf(path) === "create_model" ? fail(402, { error: { message: "paused" } }) : null;
  const error: unknown = await trainThreeSteps(setup).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 402, hint: expect.stringContaining("balance") });
  expect(setup.waits.slice(0, 720)).toEqual(Array.from({ length: 720 }, () => 5000));
});

it("ends when patience is at its end", async () => {
  const setup = setUp();
  setup.server.fault = ({ path }) => (routeOf(path) === "create_model" ? "refused" : null);
  const client = await setup.connect({ patienceMs: 10_000 });
  const failed = client.createModel({ baseModel: "m", rank: 8 });
  await expect(failed).rejects.toThrow("had no response");
  await client.delete();
  expect([...setup.server.sessions]).toEqual([]);
});

it.each([
  [401, "Invalid API key", /FIREWORKS_API_KEY/u],
  [403, "no access to serverless training", /training scope/u],
  [404, "no such base model", /404: no such base model/u],
  [409, "conflicts with durable request", /conflicts with durable/u],
  [409, "idempotency key was used", /idempotency/u],
  [409, "checkpoint already exists at capacity", /already exists/u],
  [422, "rank too large", /rank too large/u],
])("does not try again after %i %s", async (status, message, text) => {
  const setup = setUp();
  setup.server.fault = ({ path }) =>
    routeOf(path) === "create_model" ? fail(status, { error: { message } }) : null;
  const error: unknown = await trainThreeSteps(setup).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(FireworksError);
  const { message: said, hint } = error as FireworksError;
  expect(`${said} ${hint}`).toMatch(text);
  expect(setup.server.bodies("create_model")).toHaveLength(1);
});

it("leaves the number of a refused request free, and takes none after one that was lost", async () => {
  const setup = setUp();
  const { server } = setup;
  const client = await setup.connect({ patienceMs: 5000 });
  const model = await client.createModel({ baseModel: "m", rank: 8 });
  let refuse = true;
  server.fault = ({ path }) => {
    if (routeOf(path) !== "forward_backward" || !refuse) return null;
    refuse = false;
    return fail(422, { error: { message: "no such loss" } });
  };
  await expect(model.forwardBackward([datum], "nonsense")).rejects.toThrow("no such loss");
  await model.forwardBackward([datum], "cross_entropy");
  expect(server.bodies("forward_backward").map((body) => body["seq_id"])).toEqual([1, 1]);
  server.fault = ({ path }) => (routeOf(path) === "optim_step" ? "refused" : null);
  const lost = await Promise.allSettled([
    model.optimStep({ learningRate: 1 }),
    model.optimStep({ learningRate: 1 }),
  ]);
  expect(lost.map((one) => (one as { reason?: Error }).reason?.message)).toEqual([
    expect.stringContaining("had no response"),
    expect.stringContaining("takes no more requests"),
  ]);
  await client.delete();
});

const event = { choices: [{ logprobs: { content: [] }, finish_reason: null }] };
const good = (): Fault => null;

it.each<readonly [string, readonly (() => Fault)[], readonly number[] | null]>([
  ["weights that are not loaded yet", [() => fail(404, {}), () => fail(425, {})], [5000, 5000]],
  ["a stream without an end", [() => stream([event], "")], [2000]],
  ["half of an event", [() => stream([], 'data: {"choices":[{"ind')], [2000]],
  ["503, then a cut connection", [() => fail(503, {}), () => "lost"], [2000, 4000]],
  ["an error in the stream", [() => stream([], "event: error\ndata: out of memory\n\n")], null],
  ["another finish_reason", [() => stream([{ choices: [{ finish_reason: "error" }] }])], null],
  ["a refusal", [() => fail(400, { error: { message: "prompt too long" } })], null],
])("samples again after %s", async (_, faults, waits) => {
  const setup = setUp();
  const client = await setup.connect();
  const model = await client.createModel({ baseModel: "m", rank: 8 });
  const sampler = client.createSampler(await model.saveForSampler("v0"));
  const wanted = { maxTokens: 2, seed: 5 };
  const expected = await sampler.sample(Int32Array.of(1), wanted);
  const left = [...faults];
  setup.server.fault = ({ path }) =>
    path.includes("completions") ? (left.shift() ?? good)() : null;
  setup.waits.length = 0;
  const sampled = sampler.sample(Int32Array.of(1), wanted);
  if (waits === null) await expect(sampled).rejects.toBeInstanceOf(FireworksError);
  else {
    expect(await sampled).toEqual(expected);
    expect(setup.waits).toHaveLength(waits.length);
    // Later ones are spread by up to a quarter.
    for (const [i, ms] of waits.entries()) {
      expect(setup.waits[i]).toBeLessThanOrEqual(ms);
      expect(setup.waits[i]).toBeGreaterThanOrEqual(0.75 * ms);
    }
  }
  await client.delete();
});

it.each([
  ["404", 10, () => fail(404, {})],
  ["500", 7, () => fail(500, {})],
] as const)("samples no further after %s, %i times", async (_, attempts, make) => {
  const setup = setUp();
  const client = await setup.connect();
  const sampler = client.createSampler(null);
  setup.server.fault = ({ path }) => (path.includes("completions") ? make() : null);
  await expect(sampler.sample(Int32Array.of(1), { maxTokens: 1 })).rejects.toThrow(_);
  const sent = setup.server.requests.filter(({ path }) => path.includes("completions"));
  expect(sent).toHaveLength(attempts);
  await client.delete();
});

it("names a session that could not be deleted, and how to delete it", async () => {
  const setup = setUp();
  const client = await setup.connect();
  setup.server.fault = ({ method }) =>
    method === "DELETE" ? fail(500, { message: "down" }) : null;
  expect(await client.delete()).toBe(false);
  expect(setup.waits).toEqual([1000, 2000, 4000, 8000]);
  const [warning] = setup.warnings;
  expect(warning).toContain(`accounts/demo/trainingSessions/${client.sessionId}`);
  expect(warning).toContain("curl -X DELETE");
  expect(warning).toContain("http://fireworks.test/v1/accounts/demo/trainingSessions/");
});

it("keeps the session alive, and says when no heartbeat arrives", async () => {
  const setup = setUp();
  const client = await setup.connect({ heartbeatMs: 5 });
  await expect.poll(() => setup.server.heartbeats).toBeGreaterThan(2);
  await client.delete();
  const before = setup.server.heartbeats;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(setup.server.heartbeats).toBe(before);
});

it("ends requests in flight when the session is deleted", async () => {
  const setup = setUp();
  const client = await setup.connect({ deadlineMs: 60_000 });
  const model = await client.createModel({ baseModel: "m", rank: 8 });
  setup.server.fault = ({ path }) =>
    routeOf(path) === "retrieve_future" ? Response.json({ type: "try_again" }) : null;
  const pending = model.optimStep({ learningRate: 1 }).catch((error: unknown) => error);
  await client.delete();
  expect(String(await pending)).toContain("session was closed");
});

it("cuts a large batch into requests of at most 1,024 sequences and 5,000,000 bytes", async () => {
  const setup = setUp();
  const client = await setup.connect();
  const model = await client.createModel({ baseModel: "m", rank: 8 });
  const many = Array.from({ length: 2500 }, () => datum);
  const { outputs, metrics } = await model.forwardBackward(many, "cross_entropy");
  expect(outputs).toHaveLength(2500);
  expect(metrics["loss:sum"]).toBeCloseTo(2500 * Math.log(2), 3);
  const sizes = () =>
    setup.server
      .bodies("forward_backward")
      .map((body) => (body["forward_backward_input"] as { data: unknown[] }).data.length);
  expect(sizes()).toEqual([1024, 1024, 452]);
  const length = 60_000;
  const long: Datum = {
    tokens: new Int32Array(length).fill(151_000),
    lossInputs: {
      target_tokens: createIdTensor(new Int32Array(length).fill(151_000)),
      weights: createFloatTensor(new Float32Array(length).fill(1 / 3)),
    },
  };
  await model.forwardBackward([long, long, long, long], "cross_entropy");
  for (const body of setup.server.bodies("forward_backward"))
    expect(JSON.stringify(body).length).toBeLessThanOrEqual(5_000_000);
  expect(sizes().slice(3).length).toBeGreaterThan(1);
  await client.delete();
});
