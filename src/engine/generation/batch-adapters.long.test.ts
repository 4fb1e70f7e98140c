/** Sequences of several adapters in one batch have the bits that they have alone, and those of training. */
import { expect, it } from "vitest";
import { randomTokens, rowOf, smallConfig, smallPolicy } from "../../../test/engine/small-model.ts";
import type { Sample, SampleRequest } from "../../core/policy.ts";
import { createRandom } from "../../util/random.ts";
import { sharedDecoder, withNewAdapter, writeTrained, type Policy } from "../decoder/policy.ts";
import type { DecoderWeights } from "../decoder/weights.ts";
import type { ModelConfig } from "../model/model-config.ts";
import type { Precision } from "../tensor/matrix.ts";
import { PolicyTrainer } from "../training/trainer.ts";
import { BatchSampler } from "./batch-sampler.ts";

const normed: ModelConfig = {
  ...smallConfig,
  attentionBias: true,
  norms: {
    beforeAttention: "input_layernorm",
    afterAttention: "post_attention_layernorm",
    beforeFeedForward: "pre_feedforward_layernorm",
    afterFeedForward: "post_feedforward_layernorm",
  },
};

interface Case {
  readonly precision: Precision;
  readonly threads: number;
  readonly rank: number;
  readonly config?: ModelConfig;
}

async function policies({ rank, ...of }: Case): Promise<readonly [Policy, Policy]> {
  const lora = { rank, alpha: 6 };
  const first = await smallPolicy(lora, of);
  const both = [first, withNewAdapter(first, lora)] as const;
  for (const [i, policy] of both.entries()) {
    const random = createRandom(3 + i);
    for (const data of policy.data.values())
      for (let k = 0; k < data.length; k++) data[k] = random() - 0.5;
    await writeTrained(policy, policy.weights);
  }
  return both;
}

const bits = ({ tokens, logprobs, ...rest }: Sample): unknown => ({
  ...rest,
  tokens: [...tokens],
  logprobs: [...logprobs],
});

it.each<Case>([
  { precision: "f32", threads: 1, rank: 3 },
  { precision: "f32", threads: 2, rank: 4, config: normed },
  { precision: "bf16", threads: 2, rank: 3 },
  { precision: "bf16", threads: 2, rank: 4, config: normed },
])("gives the same bits in company of other adapters: %j", async (of) => {
  const [first, second] = await policies(of);
  const base = sharedDecoder(first, null);
  const weights = new Map<string | null | undefined, DecoderWeights>([
    [undefined, first.weights],
    ["second", second.weights],
    [null, base],
  ]);
  const longest = randomTokens(5, 150);
  const prompts = [randomTokens(1, 4), longest, longest.subarray(0, 70), longest.subarray(0, 130)];
  const requests = prompts.flatMap((tokens, i) =>
    [...weights.keys()].map((adapter): SampleRequest => {
      const sampling = { temperature: 1, topP: 1, topK: 0, minP: 0, stopTokenIds: [] };
      const params = { ...sampling, maxTokens: 20, seed: i };
      return { tokens, params, n: 2, ...(adapter === undefined ? {} : { adapter }) };
    }),
  );
  const alone: unknown[] = [];
  for (const { adapter, ...request } of requests) {
    const sampler = new BatchSampler(weights.get(adapter)!);
    alone.push((await sampler.sample(request)).map(bits));
  }
  expect(new Set(alone.map((one) => JSON.stringify(one))).size).toBe(requests.length);
  const adapters = new Map(
    [...weights].flatMap(([name, own]) => (name === undefined ? [] : [[name, own]])),
  );
  for (const options of [{}, { cacheBytes: 200_000 }]) {
    const sampler = new BatchSampler(first.weights, { ...options, adapters });
    for (let round = 0; round < 2; round++) {
      const together = await Promise.all(requests.map((request) => sampler.sample(request)));
      expect(together.map((samples) => samples.map(bits))).toEqual(alone);
    }
  }
});

it.each(["f32", "bf16"] as const)("has the bits that training computes: %s", async (precision) => {
  const [first, second] = await policies({ precision, threads: 2, rank: 4 });
  const adapters = new Map([["second", second.weights]]);
  const sampler = new BatchSampler(first.weights, { adapters });
  const params = { temperature: 1, topP: 1, topK: 0, minP: 0, stopTokenIds: [], maxTokens: 30 };
  const sampled = await Promise.all(
    Array.from({ length: 12 }, async (_, seed) => {
      const tokens = randomTokens(seed, 5 + 7 * seed);
      const own = seed % 2 === 0 ? {} : { adapter: "second" };
      const [sample] = await sampler.sample({ tokens, params: { ...params, seed }, ...own });
      const all = Int32Array.from([...tokens, ...sample!.tokens]);
      return { row: rowOf(all, tokens.length), logprobs: sample!.logprobs, ...own };
    }),
  );
  for (const [policy, own] of [
    [first, sampled.filter((one) => !("adapter" in one))],
    [second, sampled.filter((one) => "adapter" in one)],
  ] as const) {
    const trainer = new PolicyTrainer(policy, { memoryMiB: 50 });
    const found = await trainer.forward(own.map(({ row }) => row));
    for (const [i, { row, logprobs }] of own.entries())
      expect(found[i]!.slice(row.tokens.length - logprobs.length)).toEqual(logprobs);
  }
});

it("refuses an adapter that it does not have", async () => {
  const [first] = await policies({ precision: "f32", threads: 1, rank: 2 });
  const sampler = new BatchSampler(first.weights);
  const params = { temperature: 1, topP: 1, topK: 0, minP: 0, stopTokenIds: [], maxTokens: 1 };
  const request = { tokens: Int32Array.of(1), params: { ...params, seed: 1 }, adapter: "judge" };
  await expect(sampler.sample(request)).rejects.toThrow('no adapter "judge"');
});
