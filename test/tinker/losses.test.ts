/** Losses of our server that its clients' recipes request: by published formulas, `stable_reinforce` by ours. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { capabilityMatrix } from "../../src/core/capabilities.ts";
import { lossNames } from "../../src/core/loss/loss.ts";
import type { TinkerClient } from "../../src/tinker-api/client.ts";
import type { Datum } from "../../src/tinker-api/messages.ts";
import { createFloatTensor, createIdTensor } from "../../src/tinker-api/codec/tensor.ts";
import type { TrainingClient } from "../../src/tinker-api/training-client.ts";
import { startServer, type LocalServer } from "./local-server.ts";

let local: LocalServer;
let client: TinkerClient;
let model: TrainingClient;
beforeAll(async () => {
  local = await startServer();
  client = await local.connect();
  model = await client.createModel({ baseModel: "shop-tiny", rank: 4, seed: 3 });
});
afterAll(async () => {
  client.close();
  await local[Symbol.asyncDispose]();
});

const sequences = [
  [40, 41, 42, 43, 44, 45],
  [90, 17, 260, 5],
];

function datums(
  inputs: (row: number, tokens: number) => Record<string, readonly number[]>,
): Datum[] {
  return sequences.map((ids, row) => ({
    tokens: Int32Array.from(ids.slice(0, -1)),
    lossInputs: {
      target_tokens: createIdTensor(Int32Array.from(ids.slice(1))),
      ...Object.fromEntries(
        Object.entries(inputs(row, ids.length - 1)).map(([name, values]) => [
          name,
          createFloatTensor(Float32Array.from(values)),
        ]),
      ),
    },
  }));
}

async function logprobsNow(): Promise<number[][]> {
  const { outputs } = await model.forward(
    datums(() => ({})),
    "cross_entropy",
  );
  return outputs.map(({ logprobs }) => [...logprobs!.data]);
}

async function gradientNorm(data: Datum[], loss: string, config = {}): Promise<number> {
  const fresh = await client.createModel({ baseModel: "shop-tiny", rank: 4, seed: 3 });
  const [, step] = await Promise.all([
    fresh.forwardBackward(data, loss, config),
    fresh.optimStep({ learningRate: 0 }),
  ]);
  await fresh.unload();
  return step["grad_norm"]!;
}

it("counts every position of a cross_entropy without weights", async () => {
  const now = await logprobsNow();
  const plain = await model.forward(
    datums(() => ({})),
    "cross_entropy",
  );
  const ones = datums((_, n) => ({ weights: Array.from({ length: n }, () => 1) }));
  const weighted = await model.forward(ones, "cross_entropy");
  expect(plain.metrics["loss:sum"]).toBeCloseTo(-now.flat().reduce((a, b) => a + b, 0), 3);
  expect(weighted.metrics).toEqual(plain.metrics);
});

it("limits the ratios of cispo to [0, 4] without bounds, as the service does", async () => {
  const now = await logprobsNow();
  const logRatios = [-3, 0.1, 2, 1.3, 1.5];
  const advantage = (i: number): number => [1, -0.5, 2, 1, -1][i]!;
  const data = datums((row, n) => ({
    logprobs: now[row]!.map((l, i) => l - logRatios[i]!),
    advantages: Array.from({ length: n }, (_, i) => advantage(i)),
  }));
  const expected = now
    .flatMap((row) => row.map((l, i) => -Math.min(Math.exp(logRatios[i]!), 4) * l * advantage(i)))
    .reduce((a, b) => a + b, 0);
  const { metrics } = await model.forward(data, "cispo");
  expect(metrics["loss:sum"]! / expected).toBeCloseTo(1, 4);
});

/** Of the last three tokens of a row; prompts have no log-probability that could count. */
function gspoData(now: number[][], shift: (row: number, i: number) => number): Datum[] {
  return datums((row, n) => ({
    logprobs: now[row]!.map((l, i) => (i < n - 3 ? 0 : l - shift(row, i))),
    advantages: Array.from({ length: n }, (_, i) => (i < n - 3 ? 0 : [1, -0.7][row]!)),
    sequence_ratio_mask: Array.from({ length: n }, (_, i) => (i < n - 3 ? 0 : 1)),
  }));
}

it("takes the ratio of gspo over the tokens that the mask marks", async () => {
  const now = await logprobsNow();
  const shift = (row: number, i: number): number =>
    0.3 * Math.sin(i + 3 * row) + [0.05, -0.2][row]!;
  const data = gspoData(now, shift);
  const means = sequences.map(({ length }, row) => {
    const marked = [length - 4, length - 3, length - 2];
    return marked.reduce((sum, i) => sum + shift(row, i), 0) / 3;
  });
  const wide = { clip_low_threshold: 0.1, clip_high_threshold: 9 };
  const value = (row: number, s: number): number => -3 * s * [1, -0.7][row]!;
  const ratios = means.map((mean) => Math.exp(mean));
  const { metrics } = await model.forward(data, "gspo", wide);
  expect(metrics["loss:sum"]).toBeCloseTo(value(0, ratios[0]!) + value(1, ratios[1]!), 4);
  // Every token has its sequence's ratio, so the gradient is that of A s under plain likelihood.
  const surrogate = datums((row, n) => ({
    weights: Array.from({ length: n }, (_, i) => (i < n - 3 ? 0 : ratios[row]! * [1, -0.7][row]!)),
  }));
  const [norm, expected] = [
    await gradientNorm(data, "gspo", wide),
    await gradientNorm(surrogate, "cross_entropy"),
  ];
  expect(expected).toBeGreaterThan(0.1);
  expect(norm / expected).toBeCloseTo(1, 4);
});

it("has the bounds of the paper on gspo's ratio: 0.9997 and 1.0004", async () => {
  const now = await logprobsNow();
  const loss = async (logRatio: number): Promise<number> => {
    const { metrics } = await model.forward(
      gspoData(now, () => logRatio),
      "gspo",
    );
    return metrics["loss:sum"]!;
  };
  // A positive advantage gains up to the upper bound, a negative one loses without limit above 1.
  expect(await loss(0.01)).toBeCloseTo(-3 * 1.0004 + 3 * 0.7 * Math.exp(0.01), 4);
  expect(await loss(-0.01)).toBeCloseTo(-3 * Math.exp(-0.01) + 3 * 0.7 * 0.9997, 4);
});

it("refuses gspo without a mask, and advantages outside of it", async () => {
  const now = await logprobsNow();
  const data = gspoData(now, () => 0);
  const bare = data.map(({ tokens, lossInputs }) => {
    const { sequence_ratio_mask: _, ...rest } = lossInputs;
    return { tokens, lossInputs: rest };
  });
  await expect(model.forward(bare, "gspo")).rejects.toThrow('"sequence_ratio_mask" is missing');
  const outside = datums((_, n) => ({
    logprobs: Array.from({ length: n }, () => -1),
    advantages: Array.from({ length: n }, () => 1),
    sequence_ratio_mask: Array.from({ length: n }, (_unused, i) => (i === 0 ? 0 : 1)),
  }));
  await expect(model.forward(outside, "gspo")).rejects.toThrow("position 0 has an advantage");
});

/** Its first two positions are of the prompt. */
const withSpans = (data: readonly Datum[], promptLength = 2): Datum[] =>
  data.map((datum) => ({
    ...datum,
    targetSpans: [
      { isSampled: false, sequenceId: "s:0", offset: 1, length: promptLength },
      { isSampled: true, sequenceId: "s:0", offset: 0, length: datum.tokens.length - promptLength },
    ],
  }));

it("stable_reinforce weighs a token by its ratio, at most 1, without a gradient of the weight", async () => {
  const now = await logprobsNow();
  const logRatios = [0, 0, -0.7, 1.3, -2];
  const advantage = (i: number): number => [0, 0, 2, 1, -1][i]!;
  const data = withSpans(
    datums((row, n) => ({
      logprobs: now[row]!.map((l, i) => l - logRatios[i]!),
      advantages: Array.from({ length: n }, (_, i) => advantage(i)),
    })),
  );
  const weight = (i: number): number => Math.min(1, Math.exp(logRatios[i]!)) * advantage(i);
  const expected = now.flatMap((row) => row.map((l, i) => -weight(i) * l));
  const { metrics } = await model.forward(data, "stable_reinforce");
  expect(metrics["loss:sum"]).toBeCloseTo(
    expected.reduce((a, b) => a + b, 0),
    3,
  );
  const likelihood = datums((_, n) => ({
    weights: Array.from({ length: n }, (_unused, i) => weight(i)),
  }));
  const norms = [
    await gradientNorm(data, "stable_reinforce"),
    await gradientNorm(likelihood, "cross_entropy"),
  ];
  expect(norms[1]).toBeGreaterThan(0.1);
  expect(norms[0]! / norms[1]!).toBeCloseTo(1, 4);
});

it("refuses stable_reinforce where a target's origin is missing, or an advantage was not sampled", async () => {
  const data = datums((_, n) => ({
    logprobs: Array.from({ length: n }, () => -1),
    advantages: Array.from({ length: n }, (_unused, i) => (i < 2 ? 0 : 1)),
  }));
  const refused = (given: readonly Datum[], why: string): Promise<void> =>
    expect(model.forward(given, "stable_reinforce")).rejects.toThrow(why);
  await refused(data, "Datum 0: it does not say where its targets came from");
  await refused(withSpans(data, 3), "position 2 has an advantage, but was not sampled");
  const short = withSpans(data).map((datum) => ({
    ...datum,
    targetSpans: datum.targetSpans!.slice(1),
  }));
  await refused(short, "its provenance covers 3 of 5 positions");
});

it("stable_reinforce is no loss that a run or a probe of a service can name, since servers differ in it", () => {
  expect(lossNames).not.toContain("stable_reinforce");
  expect(capabilityMatrix.tinker.losses).not.toContain("stable_reinforce");
  const refused = { "algorithm.loss": "stable_reinforce", "model.name": "m", backend: "tinker" };
  expect(() => loadConfig({ overrides: refused })).toThrow(/stable_reinforce/u);
});
