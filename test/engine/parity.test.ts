/** The engine against Hugging Face transformers and PEFT; fixtures by `scripts/fixtures/make_parity.py`. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readSafetensors } from "../../src/engine/checkpoint/safetensors.ts";
import type { Policy } from "../../src/engine/decoder/policy.ts";
import { openPolicy } from "./open-policy.ts";
import { BatchSampler } from "../../src/engine/generation/batch-sampler.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import { changeWeights, rowOf } from "./small-model.ts";

interface Expected {
  tokens: number[];
  /** Of tokens[1..] given what is before them. */
  logprobs: number[];
  /** Every n-th element of the gradient of the sum of `logprobs`, so that some 24 remain. */
  gradients: Record<string, number[]>;
}

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/parity/${name}`, import.meta.url));
const expectedOf = (name: string): Expected =>
  JSON.parse(readFileSync(`${fixture(name)}/expected.json`, "utf8")) as Expected;

const supervised = {
  name: "cross_entropy",
  epsClip: 0,
  epsClipHigh: 0,
  aggregation: "token-sum",
} as const;

async function compare(
  policy: Policy,
  { tokens, logprobs, gradients }: Expected,
  kept: number,
): Promise<void> {
  const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
  const row = rowOf(Int32Array.from(tokens), 1);
  const [ours] = await trainer.forward([row]);
  for (const [i, theirs] of logprobs.entries())
    expect(Math.abs(ours![i + 1]! - theirs)).toBeLessThan(1e-4);
  await trainer.forwardBackward([row], supervised);
  let compared = 0;
  for (const [name, theirs] of Object.entries(gradients)) {
    const gradient = trainer.accumulatedGradients.get(name)!;
    const stride = Math.max(1, Math.floor(gradient.length / kept));
    const scale = Math.max(...theirs.map(Math.abs));
    for (const [i, value] of theirs.entries()) {
      // The loss is the negative sum.
      expect(Math.abs(-gradient[i * stride]! - value), name).toBeLessThan(1e-3 * scale + 1e-6);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(24 * 5);
}

describe("numbers of transformers", () => {
  it.each(["llama-tied", "llama-untied-sharded", "llama-3-rope", "qwen2", "qwen3"])(
    "%s",
    async (name) => {
      const policy = await openPolicy(fixture(name));
      await compare(policy, expectedOf(name), 24);
    },
  );

  it("a LoRA adapter made by PEFT", async () => {
    const policy = await openPolicy(fixture("llama-tied"), { rank: 3, alpha: 6 });
    const adapter = await readSafetensors(
      `${fixture("llama-tied-adapter")}/adapter_model.safetensors`,
    );
    expect([...adapter.keys()].toSorted()).toEqual(
      policy.trained.map(({ name }) => name).toSorted(),
    );
    await changeWeights(policy, (name, data) => data.set(adapter.get(name)!.data));
    await compare(policy, expectedOf("llama-tied-adapter"), 12);
  });

  it.each(["llama-3-rope", "qwen2", "qwen3"])(
    "%s samples with the log-probabilities that training computes",
    async (name) => {
      const policy = await openPolicy(fixture(name));
      const sampler = new BatchSampler(policy.weights);
      const prompt = Int32Array.from(expectedOf(name).tokens.slice(0, 40));
      const params = {
        temperature: 1,
        topP: 1,
        topK: 0,
        minP: 0,
        maxTokens: 60,
        stopTokenIds: [],
        seed: 1,
      };
      const [sample] = await sampler.sample({ tokens: prompt, params });
      const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
      const [logprobs] = await trainer.forward([
        rowOf(Int32Array.from([...prompt, ...sample!.tokens]), 40),
      ]);
      for (const [i, logprob] of sample!.logprobs.entries()) {
        expect(logprobs![40 + i]).toBe(logprob);
      }
    },
  );
});
