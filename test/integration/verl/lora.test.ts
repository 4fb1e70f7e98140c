/** LoRA on real verl: servers answer plain HTTP calls with the adapter merged in. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { VerlBackend } from "../../../src/backends/verl/index.ts";
import type { HttpTarget } from "../../../src/core/backend.ts";
import { defaultOptim } from "../../../src/core/loss/loss.ts";
import { ppo, rowOf } from "../../verl/fake-bridge.ts";
import { modelFolder, verlOnCpu } from "./verl-on-cpu.ts";

const optim = { ...defaultOptim, learningRate: 1e-2 };
const prompt = [5, 6, 7, 8];

let verl: VerlBackend;
let target: HttpTarget;
beforeAll(async () => {
  const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 4 };
  verl = verlOnCpu({
    optim,
    batchSize: 1,
    groupSize: 4,
    ...sampling,
    reference: true,
    critic: true,
  });
  target = await verl.start({
    seed: 0,
    model: { name: modelFolder(), lora: { rank: 8, alpha: 16 } },
    signal: new AbortController().signal,
  });
});
afterAll(async () => {
  await verl?.[Symbol.asyncDispose]();
});

interface Sampled {
  readonly token_ids: readonly number[];
  readonly logprobs: { readonly token_logprobs: readonly number[] };
}

async function ask(url: string): Promise<Sampled> {
  const response = await fetch(`${url}/v1/completions`, {
    method: "POST",
    body: JSON.stringify({ prompt, max_tokens: 4, temperature: 0 }),
  });
  return ((await response.json()) as { choices: [Sampled] }).choices[0];
}

it("serves on every replica what it trains, and measures its distance to the model without the adapter", async () => {
  const first: number[] = [];
  const start = rowOf({ tokens: [...prompt, 9, 10], logprobs: [-6, -6], advantage: 1 });
  const [asLoaded] = (await verl.forward([start])) as [Float32Array];
  for (let step = 0; step < 3; step++) {
    const [sampled, other] = await Promise.all(target.workers.map(({ url }) => ask(url)));
    expect(other).toEqual(sampled);
    const { token_ids: ids, logprobs } = sampled as Sampled;
    const tokens = [...prompt, ...ids];
    const row = rowOf({ tokens, logprobs: logprobs.token_logprobs, advantage: 1 });
    const [trained] = (await verl.forward([row])) as [Float32Array];
    for (const [i, logprob] of logprobs.token_logprobs.entries()) {
      // Merged weights are handed on in bfloat16.
      expect(Math.abs(logprob - (trained[prompt.length + i] as number))).toBeLessThan(5e-3);
    }
    first.push(logprobs.token_logprobs[0] as number);
    await verl.updatePolicy([row], ppo, optim);
    await verl.publishWeights();
  }
  const [reference, now] = await Promise.all([
    verl.forward([start], "reference"),
    verl.forward([start]),
  ]);
  const gaps = [...(reference[0] as Float32Array)].map((value, at) => {
    // A new adapter changes nothing, so the first forward was the reference.
    expect(value).toBeCloseTo(asLoaded[at] as number, 5);
    return value - (now[0]?.[at] as number);
  });
  const k3 = gaps.reduce((sum, gap) => sum + Math.exp(gap) - gap - 1, 0) / 2;
  expect(k3).toBeGreaterThan(1e-6);
  const loss = { ...ppo, kl: { coef: 0.1, estimator: "k3" } } as const;
  const { kl_reference: measured } = await verl.updatePolicy([start], loss, optim);
  expect(Math.abs((measured as number) - k3)).toBeLessThan(1e-3 * Math.max(1e-3, k3));
  // The likeliest token, rewarded, becomes likelier.
  expect(first[2]).toBeGreaterThan((first[0] as number) + 0.05);
});

it("trains a critic beside the adapter, which it leaves alone", async () => {
  const bare = rowOf({ tokens: [...prompt, 9, 10], logprobs: [-6, -6], advantage: 1 });
  const [values] = (await verl.values([bare])) as [Float32Array];
  expect([...values]).toEqual([0, 0, 0, 0, 0, 0]);
  const row = { ...bare, values, returns: Float32Array.from(bare.targetMask) };
  const policy = await verl.forward([bare]);
  const critic = { learningRate: 1e-2, clip: null, epochs: 4, isWarmup: true };
  const losses: number[] = [];
  for (let step = 0; step < 3; step++) {
    losses.push((await verl.updatePolicy([row], { ...ppo, critic }, optim))["value_loss"]!);
  }
  expect(losses[2]).toBeLessThan(losses[0]! / 2);
  expect(await verl.forward([bare])).toEqual(policy);
  // Both in one step.
  const both = { ...ppo, critic: { ...critic, isWarmup: false } };
  expect(await verl.updatePolicy([row], both, optim)).toHaveProperty("value_loss");
  expect(await verl.forward([bare])).not.toEqual(policy);
});
