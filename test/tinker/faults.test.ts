/**
 * Everything that can go wrong on the way, at every route: whatever is lost, refused or late, the
 * weights end where they end without faults, and no wait is without an end.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { TinkerClientOptions } from "../../src/tinker-api/client-options.ts";
import type { TinkerClient } from "../../src/tinker-api/client.ts";
import { createFloatTensor, createIdTensor } from "../../src/tinker-api/codec/tensor.ts";
import {
  TinkerModelLostError,
  TinkerResultGoneError,
  TinkerStatusError,
  TinkerUnreachableError,
} from "../../src/tinker-api/tinker-error.ts";
import type { Datum } from "../../src/tinker-api/messages.ts";
import { createRandom } from "../../src/util/random.ts";
import { fetchOf, modelPath, startServer, type Fetch, type LocalServer } from "./local-server.ts";

type Fault = "refused" | "lost" | "silent" | 409 | 429 | 500 | 503;

/**
 * `refused` never arrives; `lost` arrives, and the answer does not; `silent` arrives, and
 * nothing is answered within the time for a request; a number is an answer in its place.
 */
function withFaults(fetch: Fetch, choose: (path: string) => Fault | null): Fetch {
  return async (input, init) => {
    const fault = choose(new URL(input).pathname);
    if (fault === null) return fetch(input, init);
    if (fault === "refused") throw new TypeError("fetch failed");
    if (fault === "lost") {
      await fetch(input, init);
      throw new TypeError("fetch failed");
    }
    if (fault === "silent") {
      await fetch(input, init);
      // As the signal of the request ends it.
      throw new DOMException("The operation was aborted due to timeout", "TimeoutError");
    }
    return Response.json(
      { detail: "injected" },
      { status: fault, headers: { "retry-after": "1" } },
    );
  };
}

const row: Datum = {
  tokens: Int32Array.of(40, 41, 42),
  lossInputs: {
    target_tokens: createIdTensor(Int32Array.of(41, 42, 43)),
    weights: createFloatTensor(Float32Array.of(1, 1, 1)),
  },
};

const noWait = { sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };

async function trainThreeSteps(client: TinkerClient): Promise<unknown> {
  const [served] = await client.rest.models();
  const model = await client.createModel({ baseModel: served!.name!, rank: 2, seed: 1 });
  const info = await model.info();
  const results: Promise<unknown>[] = [];
  for (let step = 0; step < 3; step++) {
    results.push(model.forwardBackward([row], "cross_entropy"));
    results.push(model.optimStep({ learningRate: 0.01 }));
  }
  const metrics = await Promise.all(results);
  const path = await model.saveState("end");
  const kept = await model.saveForSampler("end");
  const sampler = await model.createSampler();
  const byPath = await client.createSampler({ modelPath: kept });
  const wanted = { maxTokens: 4, seed: 1, stop: [] };
  const sampled = [
    await sampler.sample(row.tokens, wanted),
    await byPath.sample(row.tokens, wanted),
  ];
  const again = await client.createModelFromState(path, true);
  const scores = [await model.forward([row], "cross_entropy")];
  scores.push(await again.forward([row], "cross_entropy"));
  await again.unload();
  const lists = (await client.rest.checkpoints(model.modelId)).map(({ kind }) => kind);
  return { info, metrics, sampled, scores, lists };
}

async function run(local: LocalServer, options: TinkerClientOptions): Promise<unknown> {
  const client = await local.connect({ ...noWait, ...options });
  try {
    return await trainThreeSteps(client);
  } finally {
    client.close();
  }
}

const faults: readonly Fault[] = ["refused", "lost", "silent", 409, 429, 500, 503];

it.each(faults)(
  "ends where a run without faults ends, with %s at every route once",
  async (fault) => {
    await using local = await startServer();
    const expected = await run(local, {});
    const hit = new Set<string>();
    const fetch = withFaults(fetchOf(local.server), (path) => {
      const route = path.replace(/^\/api\/v1\//u, "").replace(/\/[^/]*:train:[^/]*/u, "/RUN");
      if (hit.has(route)) return null;
      hit.add(route);
      return fault;
    });
    expect(await run(local, { fetch })).toEqual(expected);
    expect([...hit].toSorted()).toEqual([
      "asample",
      "client/config",
      "create_model",
      "create_sampling_session",
      "create_session",
      "forward_backward",
      "get_info",
      "get_server_capabilities",
      "load_weights",
      "optim_step",
      "retrieve_future",
      "save_weights",
      "save_weights_for_sampler",
      "training_runs/RUN/checkpoints",
      "unload_model",
      "weights_info",
    ]);
  },
);

it.each([1, 2, 3])(
  "ends there with any of them at a third of all requests (seed %i)",
  async (seed) => {
    await using local = await startServer();
    const expected = await run(local, {});
    const random = createRandom(seed);
    const fetch = withFaults(fetchOf(local.server), () =>
      random() < 1 / 3 ? faults[Math.floor(random() * faults.length)]! : null,
    );
    expect(await run(local, { fetch })).toEqual(expected);
  },
);

it("counts a repeated optimizer step once, on the wire as well", async () => {
  await using local = await startServer();
  const client = await local.connect();
  const model = await client.createModel({ baseModel: "shop-tiny", rank: 2, seed: 1 });
  await model.forwardBackward([row], "cross_entropy");
  const post = (route: string, body: object): Promise<Response> =>
    local.server.fetch(
      new Request(`http://tinker.test/api/v1/${route}`, {
        method: "POST",
        headers: { "x-api-key": "tml-test" },
        body: JSON.stringify(body),
      }),
    );
  const step = { model_id: model.modelId, seq_id: 2, adam_params: { learning_rate: 0.01 } };
  const first = (await (await post("optim_step", step)).json()) as object;
  const again = (await (await post("optim_step", step)).json()) as object;
  expect(again).toEqual(first);
  const other = await post("optim_step", { ...step, adam_params: { learning_rate: 0.02 } });
  expect(other.status).toBe(409);
  client.close();
});

it("waits for a number that was skipped, and gives up on one that never comes", async () => {
  await using local = await startServer({ gapMs: 3000, pollMs: 60_000 });
  const client = await local.connect();
  const model = await client.createModel({ baseModel: "shop-tiny", rank: 2, seed: 1 });
  const post = async (route: string, body: object): Promise<Record<string, unknown>> => {
    const response = await local.server.fetch(
      new Request(`http://tinker.test/api/v1/${route}`, {
        method: "POST",
        headers: { "x-api-key": "tml-test" },
        body: JSON.stringify(body),
      }),
    );
    return (await response.json()) as Record<string, unknown>;
  };
  const step = (seq: number): Promise<Record<string, unknown>> =>
    post("optim_step", { model_id: model.modelId, seq_id: seq, adam_params: {} });
  const result = async ({ request_id: id }: Record<string, unknown>): Promise<unknown> =>
    post("retrieve_future", { request_id: id });
  const second = await step(2);
  const first = await step(1);
  expect(await result(second)).toMatchObject({ metrics: { grad_norm: 0 } });
  expect(await result(first)).toMatchObject({ metrics: { grad_norm: 0 } });
  expect(await result(await step(9))).toMatchObject({
    error: expect.stringContaining("3 did not come"),
  });
  client.close();
});

it("does not start over when the server was: says so, and goes on from a checkpoint", async () => {
  const first = await startServer();
  let current = first;
  const fetch: Fetch = (input, init) => fetchOf(current.server)(input, init);
  const client = await first.connect({ ...noWait, fetch });
  const model = await client.createModel({ baseModel: "shop-tiny", rank: 2, seed: 1 });
  await model.forwardBackward([row], "cross_entropy");
  await model.optimStep({ learningRate: 0.01 });
  const path = await model.saveState("kept");
  const expected = await model.forward([row], "cross_entropy");
  await first.server.close();
  current = await startServer({ folder: first.folder });
  const lost = await model.optimStep({ learningRate: 0.01 }).catch((error: unknown) => error);
  expect(lost).toBeInstanceOf(TinkerStatusError);
  expect((lost as Error).message).toContain("is not loaded");
  const again = await current.connect({ ...noWait, fetch });
  const restored = await again.createModelFromState(path, true);
  expect(await restored.forward([row], "cross_entropy")).toEqual(expected);
  client.close();
  again.close();
  await current[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
});

it("ends a wait for a result that the server has forgotten", async () => {
  await using local = await startServer();
  const fetch: Fetch = (input, init) =>
    input.endsWith("/retrieve_future")
      ? Promise.resolve(Response.json({ detail: "gone" }, { status: 410 }))
      : fetchOf(local.server)(input, init);
  const client = await local.connect({ fetch });
  await expect(client.createModel({ baseModel: "shop-tiny" })).rejects.toThrow(
    TinkerResultGoneError,
  );
  client.close();
});

it("gives up on a server that stays away, and takes no more requests for that model", async () => {
  await using local = await startServer();
  let isAway = false;
  const fetch: Fetch = (input, init) =>
    isAway ? Promise.reject(new TypeError("fetch failed")) : fetchOf(local.server)(input, init);
  const client = await local.connect({ ...noWait, fetch, patienceMs: 2000, random: () => 0 });
  const model = await client.createModel({ baseModel: "shop-tiny", rank: 2, seed: 1 });
  isAway = true;
  const [lost, next] = await Promise.allSettled([model.optimStep({}), model.optimStep({})]);
  expect(lost).toMatchObject({ reason: expect.any(TinkerUnreachableError) });
  expect(next).toMatchObject({ reason: expect.any(TinkerModelLostError) });
  client.close();
});

it("follows Retry-After, and says what it is waiting for", async () => {
  await using local = await startServer();
  const waits: number[] = [];
  const warnings: string[] = [];
  let refusals = 2;
  const fetch = withFaults(fetchOf(local.server), (path) =>
    path.endsWith("create_session") && refusals-- > 0 ? 429 : null,
  );
  const client = await local.connect({
    fetch,
    sleep: async (ms) => void waits.push(ms),
    onWarning: (notice) => warnings.push(notice),
  });
  expect(waits).toEqual([1000, 1000]);
  expect(warnings[0]).toContain("POST /api/v1/create_session: trying again.");
  client.close();
});

it("leaves no gap behind a call that is cancelled before its turn", async () => {
  await using local = await startServer();
  const client = await local.connect();
  const model = await client.createModel({ baseModel: "shop-tiny", rank: 2, seed: 1 });
  const abort = new AbortController();
  const first = model.forwardBackward([row], "cross_entropy");
  const cancelled = model.forwardBackward([row], "cross_entropy", {}, { signal: abort.signal });
  abort.abort(new Error("not wanted"));
  await expect(cancelled).rejects.toThrow("not wanted");
  await first;
  const other = await client.createModel({ baseModel: "shop-tiny", rank: 2, seed: 1 });
  await other.forwardBackward([row], "cross_entropy");
  expect(await model.optimStep({ learningRate: 0 })).toEqual(
    await other.optimStep({ learningRate: 0 }),
  );
  client.close();
});

it("ends a request that is never answered, after the time for one", async () => {
  await using local = await startServer();
  const reasons: Error[] = [];
  const fetch: Fetch = (input, init) =>
    input.endsWith("/create_model")
      ? new Promise((_, reject) => {
          init.signal!.addEventListener("abort", () => {
            const reason = init.signal!.reason as Error;
            reasons.push(reason);
            reject(reason);
          });
        })
      : fetchOf(local.server)(input, init);
  const hasty = await local.connect({ ...noWait, fetch, httpTimeoutMs: 1000, patienceMs: 1000 });
  await expect(hasty.createModel({ baseModel: "shop-tiny" })).rejects.toThrow(
    TinkerUnreachableError,
  );
  expect(new Set(reasons.map(({ name }) => name))).toEqual(new Set(["TimeoutError"]));
  hasty.close();
});

it("ends a wait at its deadline", async () => {
  await using local = await startServer({ pollMs: 20 });
  const fetch: Fetch = async (input, init) =>
    input.endsWith("/retrieve_future")
      ? Response.json({ type: "try_again", queue_state: "paused_capacity" })
      : fetchOf(local.server)(input, init);
  const client = await local.connect({ fetch, deadlineMs: 100 });
  await expect(client.createModel({ baseModel: "shop-tiny" })).rejects.toThrow("100 ms");
  client.close();
});

it.each([
  [401, "Invalid API key", /401: Invalid API key[^]*TINKER_API_KEY/u, 1],
  // An account may be filled up meanwhile.
  [402, "Billing is paused", /402: Billing is paused[^]*balance or quota/u, 3],
  [403, "No access to this model", /403: No access to this model[^]*TINKER_API_KEY/u, 1],
] as const)("says after %i what to do", async (status, detail, text, tries) => {
  await using local = await startServer();
  let requests = 0;
  const fetch: Fetch = (input, init) => {
    if (!input.endsWith("/create_model")) return fetchOf(local.server)(input, init);
    requests += 1;
    return Promise.resolve(Response.json({ detail }, { status }));
  };
  const client = await local.connect({ ...noWait, fetch, patienceMs: 2500, random: () => 0 });
  const error = await client.createModel({ baseModel: "shop-tiny" }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(TinkerStatusError);
  const { message, hint } = error as TinkerStatusError;
  expect(`${message} ${hint}`).toMatch(text);
  expect(requests).toBe(tries);
  client.close();
});

it("refuses to serve an architecture that the engine does not have, by name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tinker-architecture-"));
  cpSync(modelPath, folder, { recursive: true });
  const config = { architectures: ["GPT2LMHeadModel"], model_type: "gpt2" };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  await expect(startServer({ modelPath: folder })).rejects.toThrow("GPT2LMHeadModel");
  rmSync(folder, { recursive: true });
});
