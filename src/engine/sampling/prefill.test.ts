import { describe, expect, it } from "vitest";
import type { SampleRequest, SamplingParams } from "../../core/policy.ts";
import { randomTokens, smallModel } from "../../../test/engine/small-model.ts";
import { BatchSampler } from "./batch-sampler.ts";

const params = (seed: number, maxTokens: number): SamplingParams => ({
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  maxTokens,
  stopTokenIds: [],
  seed,
});

const short: SampleRequest = { tokens: randomTokens(1, 10), params: params(1, 60) };
const long: SampleRequest = { tokens: randomTokens(2, 600), params: params(2, 3) };

/** Draws the short sequence, and does what is said for the number of its tokens that are there. */
function sampleShort(
  sampler: BatchSampler,
  actions: Readonly<Record<number, () => void>>,
): { readonly sampled: number; readonly done: Promise<unknown> } {
  const state = { sampled: 0, done: Promise.resolve<unknown>(undefined) };
  const onChunk = (): void => actions[(state.sampled += 1)]?.();
  state.done = sampler.sample({ ...short, onChunk });
  return state;
}

describe("Prefill", () => {
  it("lets sequences go on between the blocks of a long prompt", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    let late: ReturnType<BatchSampler["sample"]> | undefined;
    let sampledBefore = 0;
    const state = sampleShort(sampler, {
      5: () =>
        (late = sampler.sample({ ...long, onChunk: () => (sampledBefore ||= state.sampled) })),
    });
    await state.done;
    expect((await late!)[0]!.tokens.length).toBe(3);
    // Ten blocks of 64 tokens, and a token of the other sequence after each but the last.
    expect(sampledBefore).toBe(5 + 9);
    await sampler.close();
  });

  it("ends an aborted prompt after the run that it is in, and computes no further block", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    const controller = new AbortController();
    let aborted: ReturnType<BatchSampler["sample"]> | undefined;
    let sampledAtEnd = 0;
    const state = sampleShort(sampler, {
      5: () => {
        aborted = sampler.sample({ ...long, signal: controller.signal });
        void aborted.then(() => (sampledAtEnd = state.sampled));
      },
      8: () => controller.abort(),
    });
    await state.done;
    const [sample] = await aborted!;
    expect(sample).toMatchObject({ stopReason: "aborted", tokens: new Int32Array(0) });
    expect(sampledAtEnd).toBe(8);
    await sampler.close();
  });

  it("starts a prompt anew when weights change in it", async () => {
    const policy = smallModel();
    const norm = policy.data.get("model.norm.weight")!;
    const down = policy.data.get("model.layers.0.mlp.down_proj.weight")!;
    const change = (): void => {
      norm.fill(0.5);
      down.fill(0.01);
    };
    const sampler = await BatchSampler.create(policy, { threads: 1 });
    let swapped: Promise<void> | undefined;
    let late: ReturnType<BatchSampler["sample"]> | undefined;
    await sampleShort(sampler, {
      5: () => (late = sampler.sample(long)),
      8: () => (swapped = sampler.swapWeights(change, 1)),
    }).done;
    await swapped;
    const [through] = await late!;
    const [after] = await sampler.sample(long);
    expect([...through!.logprobs]).toEqual([...after!.logprobs]);
    expect(through!.weightChanges).toEqual([{ at: 0, weightVersion: 1 }]);
    await sampler.close();
  });
});
