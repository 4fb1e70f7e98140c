/** The client against our server: every call, the losses' worked values, and what the optimizer does. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TinkerClient } from "../../src/tinker-api/client.ts";
import { createFloatTensor, createIdTensor } from "../../src/tinker-api/codec/tensor.ts";
import type { Datum } from "../../src/tinker-api/messages.ts";
import { TinkerError } from "../../src/tinker-api/tinker-error.ts";
import type { TrainingClient } from "../../src/tinker-api/training-client.ts";
import { startServer, type LocalServer } from "./local-server.ts";

const tokens = Int32Array.of(40, 41, 42, 43);
const targets = Int32Array.of(41, 42, 43, 44);

let local: LocalServer;
let client: TinkerClient;
let model: TrainingClient;

beforeAll(async () => {
  local = await startServer();
  client = await local.connect();
  model = await client.createModel({ baseModel: "shop-tiny", rank: 4, seed: 1 });
});
afterAll(async () => {
  client.close();
  await local[Symbol.asyncDispose]();
});

function datum(inputs: Readonly<Record<string, readonly number[]>>): Datum {
  const floats = Object.entries(inputs).map(([name, values]) => [
    name,
    createFloatTensor(Float32Array.from(values)),
  ]);
  return {
    tokens,
    lossInputs: { target_tokens: createIdTensor(targets), ...Object.fromEntries(floats) },
  };
}

async function currentLogprobs(): Promise<Float32Array> {
  const { outputs } = await model.forward([datum({ weights: [0, 0, 0, 0] })], "cross_entropy");
  return outputs[0]!["logprobs"]!.data as Float32Array;
}

// Worked values: log-ratios 0.2, -0.5, 0, -1 and advantages 1, 1, -0.5, 2.
const logRatios = [0.2, -0.5, 0, -1];
const advantages = [1, 1, -0.5, 2];
const ratioLosses: readonly [string, Record<string, number>, number][] = [
  ["importance_sampling", {}, -2.0636923],
  ["ppo", {}, -2.042289542],
  ["ppo", { clip_low_threshold: 0.9, clip_high_threshold: 1.1 }, -1.942289542],
];

it.each(ratioLosses)("%s %o has its worked value", async (loss, config, expected) => {
  const now = await currentLogprobs();
  const logprobs = Array.from(now, (l, i) => l - logRatios[i]!);
  const { metrics } = await model.forward([datum({ logprobs, advantages })], loss, config);
  expect(metrics["loss:sum"]).toBeCloseTo(expected, 5);
});

it.each([
  ["cispo", { clip_low_threshold: 0.8, clip_high_threshold: 1.2 }, [1.2, 0.8, 1, 0.8]],
  ["cispo", {}, [1.221402758, 0.60653066, 1, 0.367879441]],
] as const)("%s %o weighs by its clipped ratios", async (loss, config, coefficients) => {
  const now = await currentLogprobs();
  const logprobs = Array.from(now, (l, i) => l - logRatios[i]!);
  const { metrics } = await model.forward([datum({ logprobs, advantages })], loss, config);
  const expected = coefficients.reduce((sum, c, i) => sum - c * now[i]! * advantages[i]!, 0);
  expect(metrics["loss:sum"]! / expected).toBeCloseTo(1, 5);
});

it("dro and cross_entropy have their formulas", async () => {
  const now = await currentLogprobs();
  const logprobs = Array.from(now, (l, i) => l - logRatios[i]!);
  const dro = await model.forward([datum({ logprobs, advantages })], "dro", { beta: 0.05 });
  const expected = advantages.reduce(
    (sum, a, i) => sum - (now[i]! * a - 0.025 * logRatios[i]! ** 2),
    0,
  );
  expect(dro.metrics["loss:sum"]! / expected).toBeCloseTo(1, 5);
  const weights = [0, 1, 1, 0.5];
  const entropy = await model.forward([datum({ weights })], "cross_entropy");
  const nll = weights.reduce((sum, w, i) => sum - w * now[i]!, 0);
  expect(entropy.metrics["loss:sum"]! / nll).toBeCloseTo(1, 6);
});

it("adds gradients up until the optimizer steps, and then starts anew", async () => {
  const one = datum({ weights: [1, 1, 1, 1] });
  const norm = async (...batches: readonly Datum[][]): Promise<number> => {
    const results = batches.map((batch) => model.forwardBackward(batch, "cross_entropy"));
    const step = model.optimStep({ learningRate: 0 });
    await Promise.all(results);
    return (await step)["grad_norm"]!;
  };
  const single = await norm([one]);
  expect(single).toBeGreaterThan(0);
  expect((await norm([one, one])) / single).toBeCloseTo(2, 5);
  expect((await norm([one], [one])) / single).toBeCloseTo(2, 5);
  expect(await norm()).toBe(0);
});

it("moves weights by momentum alone when nothing was accumulated", async () => {
  const other = await client.createModel({ baseModel: "shop-tiny", rank: 4, seed: 9 });
  const row = [datum({ weights: [1, 1, 1, 1] })];
  const loss = async (): Promise<number> =>
    (await other.forward(row, "cross_entropy")).metrics["loss:sum"]!;
  const before = await loss();
  await other.forwardBackward(row, "cross_entropy");
  await other.optimStep({ learningRate: 1e-3 });
  const after = await loss();
  expect(after).toBeLessThan(before);
  await other.optimStep({ learningRate: 1e-3 });
  expect(await loss()).toBeLessThan(after);
});

it("samples from the weights that a sampler was made of, while training goes on", async () => {
  const trained = await client.createModel({ baseModel: "shop-tiny", rank: 4, seed: 2 });
  const prompt = Int32Array.of(40, 41, 42);
  const wanted = { maxTokens: 6, seed: 5, n: 2, stop: [] };
  const before = await trained.createSampler();
  const first = await before.sample(prompt, wanted);
  expect(first.sequences).toHaveLength(2);
  for (const { tokens: sampled, logprobs } of first.sequences)
    expect(logprobs).toHaveLength(sampled.length);
  await trained.forwardBackward([datum({ weights: [1, 1, 1, 1] })], "cross_entropy");
  await trained.optimStep({ learningRate: 0.05 });
  const after = await trained.createSampler();
  const [again, changed] = await Promise.all([
    before.sample(prompt, wanted),
    after.sample(prompt, wanted),
  ]);
  expect(again.sequences).toEqual(first.sequences);
  expect(changed.sequences).not.toEqual(first.sequences);
  const base = await client.createSampler({ baseModel: "shop-tiny" });
  // An adapter that was never trained changes nothing.
  expect((await base.sample(prompt, wanted)).sequences).toEqual(first.sequences);
});

it("scores prompts as training does, and ranks the likeliest tokens", async () => {
  const sampler = await model.createSampler();
  const prompt = Int32Array.of(40, 41, 42, 43, 44);
  const scores = await sampler.computeLogprobs(prompt);
  expect(scores[0]).toBeNaN();
  const now = await currentLogprobs();
  for (const [i, value] of now.entries()) expect(scores[i + 1]).toBeCloseTo(value, 4);
  const { topPromptTokens, promptLogprobs } = await sampler.sample(prompt, {
    maxTokens: 1,
    topPromptLogprobs: 512,
  });
  expect(topPromptTokens![0]).toBeNull();
  for (const [i, row] of topPromptTokens!.entries()) {
    if (row === null) continue;
    const own = row.find(([id]) => id === prompt[i])![1];
    expect(own).toBeCloseTo(promptLogprobs![i]!, 4);
    expect(row.reduce((sum, [, l]) => sum + Math.exp(l), 0)).toBeCloseTo(1, 4);
    expect(row.map(([, l]) => l)).toEqual(row.map(([, l]) => l).toSorted((a, b) => b - a));
  }
});

it.each([
  [0.6, 1, []],
  [1.5, 0.8, []],
  [0, 1, []],
  // Carried out in another way.
  [0.6, 1, ["never to be said"]],
])(
  "tells log-probabilities of samples at temperature %d, top-p %d, as of the tempered distribution (stop %j)",
  async (temperature, topP, stop) => {
    const sampler = await model.createSampler();
    const prompt = Int32Array.of(40, 41, 42);
    const options = { maxTokens: 6, temperature, topP, stop, seed: 5 };
    const { sequences } = await sampler.sample(prompt, options);
    const { tokens: sampled, logprobs } = sequences[0]!;
    const all = Int32Array.of(...prompt, ...sampled);
    const { topPromptTokens } = await sampler.sample(all, {
      maxTokens: 1,
      topPromptLogprobs: 512,
    });
    expect(logprobs).toHaveLength(6);
    for (const [i, id] of sampled.entries()) {
      // Of the whole vocabulary at temperature 1; greedy counts as that.
      const row = new Map(topPromptTokens![prompt.length + i]);
      const T = temperature === 0 ? 1 : temperature;
      const total = [...row.values()].reduce((sum, l) => sum + Math.exp(l / T), 0);
      expect(logprobs![i]).toBeCloseTo(row.get(id)! / T - Math.log(total), 4);
    }
  },
);

it("ends at stop tokens and stop texts, which belong to the sequence", async () => {
  const sampler = await client.createSampler({ baseModel: "shop-tiny" });
  const prompt = Int32Array.of(40, 41, 42);
  const free = await sampler.sample(prompt, { maxTokens: 8, temperature: 0, stop: [] });
  const sampled = free.sequences[0]!.tokens;
  const stop = sampled[2]!;
  const at = sampled.indexOf(stop);
  const cut = await sampler.sample(prompt, { maxTokens: 8, temperature: 0, stop: [stop] });
  expect(cut.sequences[0]).toMatchObject({ stopReason: "stop", tokens: sampled.slice(0, at + 1) });
});

it("saves, lists, loads and continues bit by bit", async () => {
  const row = [datum({ weights: [1, 1, 1, 1] })];
  await model.forwardBackward(row, "cross_entropy");
  await model.optimStep({ learningRate: 1e-3 });
  const path = await model.saveState("first");
  expect(path).toBe(`tinker://${model.modelId}/weights/first`);
  const sampling = await model.saveForSampler("first", { ttlSeconds: 3600 });
  const again = await client.createModelFromState(path, true);
  const step = async (one: TrainingClient): Promise<number> => {
    await one.forwardBackward(row, "cross_entropy");
    await one.optimStep({ learningRate: 1e-3 });
    return (await one.forward(row, "cross_entropy")).metrics["loss:sum"]!;
  };
  expect(await step(again)).toBe(await step(model));
  const listed = await client.rest.checkpoints(model.modelId);
  expect(listed.map(({ path: one, kind }) => [one, kind])).toEqual([
    [sampling, "sampler"],
    [path, "training"],
  ]);
  expect(listed[0]!.expiresAt).not.toBeNull();
  expect((await client.rest.checkpoints()).map((one) => one.path)).toContain(path);
  expect(await client.rest.weightsInfo(path)).toMatchObject({
    baseModel: "shop-tiny",
    loraRank: 4,
  });
  const sampler = await client.createSampler({ modelPath: sampling });
  const wanted = { maxTokens: 1, stop: [] };
  expect((await sampler.sample(Int32Array.of(1, 2), wanted)).sequences).toHaveLength(1);
  await client.rest.publishCheckpoint(path);
  await client.rest.unpublishCheckpoint(path);
  await client.rest.setCheckpointTtl(path, null);
  await client.rest.deleteCheckpoint(path);
  await expect(client.rest.weightsInfo(path)).rejects.toThrow("no checkpoint");
  expect(await client.rest.trainingRun(model.modelId)).toMatchObject({ loraRank: 4 });
  expect((await client.rest.sessions())[0]).toBe(client.sessionId);
});

it("gives archives of adapters by a URL that needs no key", async () => {
  const path = await model.saveForSampler("archived");
  const { url } = await client.rest.archiveUrl(path);
  const response = await local.server.fetch(new Request(url));
  expect(response.status).toBe(200);
  const tar = Buffer.from(await response.arrayBuffer());
  const name = tar.subarray(0, 100).toString().replace(/\0+$/u, "");
  const size = Number.parseInt(tar.subarray(124, 135).toString(), 8);
  expect(name).toBe("adapter_config.json");
  const config = JSON.parse(tar.subarray(512, 512 + size).toString()) as object;
  expect(config).toMatchObject({ r: 4, lora_alpha: 32, base_model_name_or_path: "shop-tiny" });
});

it("cuts batches into requests, and joins results in order", async () => {
  const rows = Array.from({ length: 2500 }, (_, i) => ({
    tokens: Int32Array.of(i % 400),
    lossInputs: {
      target_tokens: createIdTensor(Int32Array.of(1)),
      weights: createFloatTensor(Float32Array.of(1)),
    },
  }));
  const { outputs, metrics } = await model.forward(rows, "cross_entropy");
  expect(outputs).toHaveLength(2500);
  const values = outputs.map(({ logprobs }) => logprobs!.data[0]!);
  expect(values.slice(0, 100)).toEqual(values.slice(2400));
  const sum = values.reduce((total, value) => total - value, 0);
  expect(metrics["loss:sum"]! / sum).toBeCloseTo(1, 5);
});

it("says the same in JSON as in protobuf", async () => {
  const json = await local.connect({ encoding: "json" });
  const same = await json.createModel({ baseModel: "shop-tiny", rank: 4, seed: 3 });
  const other = await client.createModel({ baseModel: "shop-tiny", rank: 4, seed: 3 });
  const row = [datum({ weights: [1, 0.5, 0, 2] })];
  const [a, b] = await Promise.all(
    [same, other].map((one) => one.forwardBackward(row, "cross_entropy")),
  );
  expect(a).toEqual(b);
  json.close();
});

it.each([
  ["a wrong key", () => local.connect({ apiKey: "tml-wrong" }), "401"],
  [
    "another model",
    () => client.createModel({ baseModel: "Qwen/Qwen3-8B" }),
    'not "Qwen/Qwen3-8B"',
  ],
  [
    "a rank out of bounds",
    () => client.createModel({ baseModel: "shop-tiny", rank: 0 }),
    "rank is 0",
  ],
  ["an unknown loss", () => model.forward([datum({})], "hinge"), 'no loss "hinge"'],
  [
    "an unknown option",
    () => model.forward([datum({ weights: [1, 1, 1, 1] })], "cross_entropy", { beta: 1 }),
    '"beta"',
  ],
  [
    "a missing input",
    () => model.forward([datum({ logprobs: [0, 0, 0, 0] })], "ppo"),
    '"advantages" is missing',
  ],
  ["a name that is not a name", () => model.saveState("../x"), "is not a name"],
  [
    "a checkpoint that is not",
    () => client.createSampler({ modelPath: "tinker://a/weights/b" }),
    "no checkpoint",
  ],
] as const)("refuses %s in one clear sentence", async (_, call, message) => {
  const error = await call().then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TinkerError);
  expect((error as TinkerError).message).toContain(message);
  expect((error as TinkerError).fields["request"]).toMatch(/^POST \/api\/v1\//u);
});

it("goes on after a refusal", async () => {
  await expect(model.forward([datum({})], "hinge")).rejects.toThrow(TinkerError);
  expect(await currentLogprobs()).toHaveLength(4);
});
