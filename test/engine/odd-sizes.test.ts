/** Models whose hidden and MLP sizes are odd: packed matrices are padded, and nothing else may notice. */
import { expect, it } from "vitest";
import { defaultLoss } from "../../src/core/loss/loss.ts";
import { BatchSampler } from "../../src/engine/generation/batch-sampler.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import { createNormal, createRandom } from "../../src/util/random.ts";
import {
  adaptedPolicy,
  changeWeights,
  randomTokens,
  rowOf,
  smallConfig,
  smallPolicy,
} from "./small-model.ts";

const sizes = [
  { hiddenSize: 31, ffnSize: 47, vocabSize: 45 },
  { hiddenSize: 33, ffnSize: 48, tiedEmbeddings: false },
  { hiddenSize: 32, ffnSize: 65, vocabSize: 49 },
];
const loss = { ...defaultLoss, name: "cross_entropy" } as const;
const options = { memoryMiB: 100 };

it.each(sizes)("%j: sampled log-probabilities are the trained ones, bit for bit", async (size) => {
  const config = { ...smallConfig, ...size };
  for (const precision of ["f32", "bf16"] as const)
    for (const policy of [
      await adaptedPolicy({ config, precision }),
      await smallPolicy(null, { config, precision }),
    ]) {
      const prompt = randomTokens(4, 9, config.vocabSize);
      const params = { temperature: 1, topP: 1, topK: 0, minP: 0, maxTokens: 20, seed: 3 };
      const sampler = new BatchSampler(policy.weights);
      const [sample] = await sampler.sample({
        tokens: prompt,
        params: { ...params, stopTokenIds: [] },
      });
      const whole = Int32Array.from([...prompt, ...sample!.tokens]);
      const [logprobs] = await new PolicyTrainer(policy, options).forward([rowOf(whole, 9)]);
      expect([...logprobs!.subarray(9)]).toEqual([...sample!.logprobs]);
    }
});

it.each(sizes)("%j: gradients equal finite differences", async (size) => {
  const config = { ...smallConfig, ...size };
  for (const policy of [await adaptedPolicy({ config }), await smallPolicy(null, { config })]) {
    const rows = [rowOf(randomTokens(1, 14, config.vocabSize), 2)];
    const trainer = new PolicyTrainer(policy, options);
    await trainer.forwardBackward(rows, loss);
    const gradients = new Map(
      Array.from(trainer.accumulatedGradients, ([name, own]) => [name, own.slice()]),
    );
    const before = new Map(Array.from(policy.data, ([name, data]) => [name, data.slice()]));
    const normal = createNormal(createRandom(5));
    const sum = (a: Float32Array, b: Float32Array): number =>
      a.reduce((total, x, i) => total + x * b[i]!, 0);
    const unit = (a: Float32Array): Float32Array => a.map((x) => x / Math.sqrt(sum(a, a)));
    const directions = new Map(
      Array.from(gradients, ([name, own]) => {
        const random = unit(own.map(normal));
        return [name, unit(own).map((x, i) => x + random[i]!)];
      }),
    );
    const lossAt = async (distance: number): Promise<number> => {
      await changeWeights(policy, (name, data) => {
        data.set(before.get(name)!.map((x, i) => x + distance * directions.get(name)![i]!));
      });
      return (await trainer.forwardBackward(rows, loss))["loss"]!;
    };
    const numeric = ((await lossAt(1e-3)) - (await lossAt(-1e-3))) / 2e-3;
    const analytic = [...directions].reduce(
      (total, [name, direction]) => total + sum(gradients.get(name)!, direction),
      0,
    );
    expect(Math.abs(numeric - analytic)).toBeLessThan(0.002 * Math.abs(analytic));
  }
});
