/** Snapshots keep their weights: ours does, and a server whose snapshots follow training is refused. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTinkerBackend, type TinkerBackend } from "../../src/backends/tinker/index.ts";
import type { TinkerBackendOptions } from "../../src/backends/tinker/options.ts";
import type { RunContext, SamplerTarget } from "../../src/core/backend.ts";
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import { defaultSampling } from "../../src/core/policy.ts";
import { rowOf } from "../engine/small-model.ts";
import { liveSnapshots, newestSnapshot } from "./altered-servers.ts";
import {
  fetchOf,
  modelPath,
  startServer,
  token,
  type Fetch,
  type LocalServer,
} from "./local-server.ts";

let local: LocalServer;
beforeAll(async () => {
  local = await startServer();
});
afterAll(() => local[Symbol.asyncDispose]());

const context: RunContext = {
  seed: 1,
  model: { name: "shop-tiny", lora: { rank: 4, alpha: 32 } },
  signal: new AbortController().signal,
};
const row = rowOf(
  Int32Array.from({ length: 24 }, (_, i) => 30 + i),
  1,
);
const loss = { ...defaultLoss, name: "cross_entropy" as const };

function backendOf(fetch: Fetch, snapshots?: TinkerBackendOptions["snapshots"]): TinkerBackend {
  return createTinkerBackend({
    baseUrl: "http://tinker.test",
    apiKey: token,
    tokenizer: modelPath,
    client: { fetch },
    ...(snapshots === undefined ? {} : { snapshots }),
  });
}

/** A step, and a weight sync. */
async function train(backend: TinkerBackend, learningRate: number): Promise<number> {
  await backend.updatePolicy([row], loss, { ...defaultOptim, learningRate });
  return backend.publishWeights();
}

/** How many prompts were scored. */
function counting(fetch: Fetch): { readonly fetch: Fetch; scored: number } {
  const counted = {
    scored: 0,
    fetch: ((input, init) => {
      const isScore = typeof init.body === "string" && init.body.includes('"prompt_logprobs":true');
      if (input.endsWith("/asample") && isScore) counted.scored += 1;
      return fetch(input, init);
    }) as Fetch,
  };
  return counted;
}

it("keeps the weights of a snapshot over later steps, which the client looks at once", async () => {
  const counted = counting(fetchOf(local.server));
  await using backend = backendOf(counted.fetch);
  await backend.start(context);
  const atStart = counted.scored;
  expect(await train(backend, 0.01)).toBe(1);
  expect(counted.scored).toBe(atStart + 3);
  expect(await train(backend, 0.01)).toBe(2);
  expect(counted.scored).toBe(atStart + 3);
});

it.each([
  ["the trained weights", liveSnapshots],
  ["the newest snapshot", newestSnapshot],
])("refuses a server whose snapshots follow %s, once these have moved", async (_, altered) => {
  await using backend = backendOf(altered(fetchOf(local.server)));
  await backend.start(context);
  // Nothing is scored without a step, and a step of nothing tells nothing.
  expect(await backend.publishWeights()).toBe(1);
  expect(await train(backend, 0)).toBe(2);
  expect(await train(backend, 1e-12)).toBe(3);
  await expect(train(backend, 0.01)).rejects.toMatchObject({
    name: "TinkerLiveSnapshotError",
    code: "TINKER_FAILED",
    fields: { baseUrl: "http://tinker.test" },
    hint: expect.stringContaining("tinker.snapshots=live") as string,
  });
});

it("trains synchronously on such a server where it is told to, and not under samples", async () => {
  await using backend = backendOf(liveSnapshots(fetchOf(local.server)), "live");
  const { sampler } = (await backend.start(context)) as SamplerTarget;
  expect(backend.capabilities.servesWhileTraining).toBe(false);
  const params = { ...defaultSampling, maxTokens: 200, stopTokenIds: [], seed: 1 };
  const sample = sampler.sample({ tokens: Int32Array.of(40, 41, 42), params });
  await expect(train(backend, 0.01)).rejects.toThrow("Samples are in flight (1)");
  await sample;
  expect(await train(backend, 0.01)).toBe(1);
});

it("trusts a server where it is told to", async () => {
  const counted = counting(liveSnapshots(fetchOf(local.server)));
  await using backend = backendOf(counted.fetch, "frozen");
  await backend.start(context);
  const atStart = counted.scored;
  expect(backend.capabilities.servesWhileTraining).toBe(true);
  expect(await train(backend, 0.01)).toBe(1);
  expect(counted.scored).toBe(atStart);
});

it("looks at another snapshot where the server has dropped the first", async () => {
  await using small = await startServer({ maxSamplers: 1 });
  await using backend = backendOf(fetchOf(small.server));
  await backend.start(context);
  expect(await train(backend, 0.01)).toBe(1);
  expect(await train(backend, 0.01)).toBe(2);
});
