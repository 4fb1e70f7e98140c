/** A run that samples at another temperature than 1 trains the policy that it samples. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import type { Sampler } from "../../src/core/policy.ts";
import type { Policy } from "../../src/engine/decoder/policy.ts";
import { BatchSampler } from "../../src/engine/generation/batch-sampler.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import { createNormal, createRandom } from "../../src/util/random.ts";
import {
  changeWeights,
  randomTokens,
  rowOf,
  smallConfig,
  smallPolicy,
} from "../engine/small-model.ts";
import { coinAgent, coinTrainer, readLines } from "./coin-run.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-temperature-"));

interface Numbers {
  readonly metrics: readonly Readonly<Record<string, unknown>>[];
  readonly warnings: readonly string[];
}

/** Two steps of two tasks with the embedded engine; rewards tell answers apart. */
async function run(set: Readonly<Record<string, unknown>>): Promise<Numbers> {
  const outputDir = newFolder();
  await using backend = createLocalBackend({ threads: 1 });
  const { trainer, events } = coinTrainer({
    outputDir,
    backend,
    agentFlow: coinAgent,
    evaluator: (_task, { output }: Episode) => String(output).length % 5,
    set: {
      "model.name": "builtin:shop-tiny",
      "rollout.train.max_tokens": 8,
      "rollout.train.temperature": 0.7,
      "trainer.total_batches": 2,
      "training.learning_rate": 1e-4,
      ...set,
    },
  });
  await trainer.train();
  return {
    metrics: readLines(outputDir, "coin", "metrics.jsonl"),
    warnings: events.flatMap((event) => (event.type === "warning" ? [event.message] : [])),
  };
}

describe("a run at temperature 0.7 on the local backend", () => {
  it("has ratios of 1 at the first update of each step, and nothing to warn of", async () => {
    const { metrics, warnings } = await run({ "algorithm.entropy_coef": 0.01 });
    expect(metrics).toHaveLength(2);
    for (const line of metrics) {
      expect(line["train/logprob_abs_diff_mean"]).toBeLessThan(1e-5);
      expect(line["train/ratio_max"]).toBeCloseTo(1, 4);
      expect(line["train/ratio_min"]).toBeCloseTo(1, 4);
    }
    expect(warnings.filter((text) => text.includes("temperature"))).toEqual([]);
  });

  it("agrees with the trainer's own log-probabilities where rollouts are corrected", async () => {
    const { metrics } = await run({ "algorithm.rollout_correction": "token" });
    for (const line of metrics) expect(line["off_policy/kl_k3"]).toBeLessThan(1e-8);
  });

  it("trains the policy at temperature 1 where the options say so, with ratios of 1 too", async () => {
    const { metrics, warnings } = await run({ "algorithm.logprob_temperature": "one" });
    for (const line of metrics) expect(line["train/logprob_abs_diff_mean"]).toBeLessThan(1e-5);
    expect(warnings.filter((text) => text.includes("temperature"))).toHaveLength(1);
    // The same tokens in the first step, which the sharper policy that sampled them finds likelier.
    const sampled = (await run({})).metrics;
    expect(sampled[0]!["reward/mean"]).toBe(metrics[0]!["reward/mean"]);
    expect(sampled[0]!["train/sampled_nll"]).toBeLessThan(
      0.95 * (metrics[0]!["train/sampled_nll"] as number),
    );
  });
});

const prompt = randomTokens(9, 8);
const V = smallConfig.vocabSize;
const temperature = 0.5;
/** One of the rarer tokens pays; others pay a little. */
const rewardOf = (token: number): number => (token === 7 ? 1 : (token % 5) / 10);
const tokenRow = (token: number): TrainingRow =>
  rowOf(Int32Array.of(...prompt, token), prompt.length);
const everyToken = Array.from({ length: V }, (_, token) => tokenRow(token));
const at = prompt.length;

/** Probabilities under softmax(logits / temperature), by its definition, from those at temperature 1. */
async function probabilities(trainer: PolicyTrainer): Promise<number[]> {
  const found = await trainer.forward(everyToken);
  const masses = found.map((values) => Math.exp(values[at]! / temperature));
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return masses.map((mass) => mass / total);
}

const expectedReward = async (trainer: PolicyTrainer): Promise<number> =>
  (await probabilities(trainer)).reduce((sum, p, token) => sum + p * rewardOf(token), 0);

/** Tokens that were sampled, with their rewards less the mean. */
async function sampledRows(sampler: Sampler, n: number, seed: number): Promise<TrainingRow[]> {
  const params = { temperature, topP: 1, topK: 0, minP: 0, maxTokens: 1, stopTokenIds: [], seed };
  const samples = await sampler.sample({ tokens: prompt, params, n });
  const rewards = samples.map(({ tokens }) => rewardOf(tokens[0]!));
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / n;
  return samples.map(({ tokens, temperedLogprobs }, i) => ({
    ...rowOf(Int32Array.of(...prompt, tokens[0]!), at, {
      logprobs: temperedLogprobs!,
      advantage: rewards[i]! - mean,
    }),
    temperature,
  }));
}

const loss = { ...defaultLoss, name: "importance_sampling" } as const;
const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const unit = (a: Float32Array): Float32Array => a.map((x) => x / Math.sqrt(dot(a, a)));

type Gradients = ReadonlyMap<string, Float32Array>;

async function gradientsOf(
  trainer: PolicyTrainer,
  rows: readonly TrainingRow[],
): Promise<Gradients> {
  await trainer.forwardBackward(rows, loss);
  const found = new Map([...trainer.accumulatedGradients].map(([name, g]) => [name, g.slice()]));
  // Forgets what has been accumulated, and moves nothing.
  await trainer.optimStep({ ...defaultOptim, learningRate: 0 });
  return found;
}

/** Slope of the expected reward over that which `gradients` of a loss predict, along some directions. */
async function gradientRatios(
  policy: Policy,
  trainer: PolicyTrainer,
  gradients: Gradients,
): Promise<number[]> {
  const before = new Map(
    [...gradients.keys()].map((name) => [name, policy.data.get(name)!.slice()]),
  );
  const normal = createNormal(createRandom(5));
  const ratios: number[] = [];
  for (let trial = 0; trial < 4; trial++) {
    const directions = new Map(
      Array.from(gradients, ([name, gradient]) => {
        const random = unit(gradient.map(normal));
        return [name, unit(gradient).map((x, i) => x + random[i]!)];
      }),
    );
    const rewardAt = async (distance: number): Promise<number> => {
      await changeWeights(policy, (name, data) => {
        const direction = directions.get(name)!;
        data.set(before.get(name)!.map((x, i) => x + distance * direction[i]!));
      });
      return expectedReward(trainer);
    };
    const numeric = ((await rewardAt(2e-3)) - (await rewardAt(-2e-3))) / 4e-3;
    const predicted = [...directions].reduce(
      (sum, [name, direction]) => sum - dot(gradients.get(name)!, direction),
      0,
    );
    ratios.push(predicted / numeric);
  }
  await changeWeights(policy, (name, data) => data.set(before.get(name)!));
  return ratios;
}

describe("a bandit at temperature 0.5", () => {
  it("has the gradient of the expected reward of the policy that is sampled", async () => {
    const policy = await smallPolicy();
    const sampler = new BatchSampler(policy.weights);
    const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
    // Every token once, weighed by its probability: no noise of sampling.
    const p = await probabilities(trainer);
    const exact = everyToken.map((row, token) => ({
      ...row,
      temperature,
      samplingLogprobs: Float32Array.from(row.tokens, (_, i) =>
        i === at ? Math.log(p[token]!) : 0,
      ),
      advantages: Float32Array.from(row.tokens, (_, i) => (i === at ? V * rewardOf(token) : 0)),
      weights: Float32Array.from(row.tokens, () => p[token]!),
    }));
    for (const ratio of await gradientRatios(policy, trainer, await gradientsOf(trainer, exact)))
      expect(Math.abs(ratio - 1)).toBeLessThan(0.01);
    const rows = await sampledRows(sampler, 8000, 1);
    for (const ratio of await gradientRatios(policy, trainer, await gradientsOf(trainer, rows)))
      expect(Math.abs(ratio - 1)).toBeLessThan(0.15);
    // What was trained before: the policy at temperature 1, on the same samples.
    const raw = await trainer.forward(rows.map((row) => ({ ...row, temperature: 1 })));
    const asBefore = rows.map((row, i) => ({ ...row, temperature: 1, samplingLogprobs: raw[i]! }));
    const before = await gradientRatios(policy, trainer, await gradientsOf(trainer, asBefore));
    expect(Math.max(...before.map((ratio) => Math.abs(ratio - 1)))).toBeGreaterThan(0.3);
  });

  it("learns which token pays", async () => {
    const policy = await smallPolicy();
    const sampler = new BatchSampler(policy.weights);
    const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
    const before = await expectedReward(trainer);
    for (let step = 0; step < 40; step++) {
      const rows = await sampledRows(sampler, 128, step);
      const { ratio_max, ratio_min } = await trainer.forwardBackward(rows, loss);
      expect([ratio_min, ratio_max]).toEqual([1, 1]);
      await trainer.optimStep({ ...defaultOptim, learningRate: 0.02 });
      // The sampler reads the trainer's weights: what it cached of the prompt is not theirs.
      await sampler.swapWeights(() => undefined, step + 1);
    }
    expect(before).toBeLessThan(0.4);
    expect(await expectedReward(trainer)).toBeGreaterThan(0.9);
  });
});
