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

describe("Prefill", () => {
  it("lets sequences go on between the blocks of a long prompt", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    let drawn = 0;
    let late: Promise<unknown> | undefined;
    let drawnBefore = 0;
    await sampler.sample({
      ...short,
      onChunk: () => {
        drawn += 1;
        if (drawn !== 5) return;
        late = sampler
          .sample({ ...long, onChunk: () => (drawnBefore ||= drawn) })
          .then(([sample]) => expect(sample!.tokens.length).toBe(3));
      },
    });
    await late;
    // Ten blocks of 64 tokens, and a token of the other sequence after each but the last.
    expect(drawnBefore).toBe(5 + 9);
    await sampler.close();
  });

  it("ends an aborted prompt after the run that it is in, and computes no further block", async () => {
    const sampler = await BatchSampler.create(smallModel(), { threads: 1 });
    const controller = new AbortController();
    let drawn = 0;
    let aborted: Promise<unknown> | undefined;
    let drawnAtEnd = 0;
    await sampler.sample({
      ...short,
      onChunk: () => {
        drawn += 1;
        if (drawn === 5)
          aborted = sampler.sample({ ...long, signal: controller.signal }).then(([sample]) => {
            expect(sample).toMatchObject({ stopReason: "aborted", tokens: new Int32Array(0) });
            drawnAtEnd = drawn;
          });
        if (drawn === 8) controller.abort();
      },
    });
    await aborted;
    expect(drawnAtEnd).toBe(8);
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
    let drawn = 0;
    let swapped: Promise<void> | undefined;
    let late: ReturnType<BatchSampler["sample"]> | undefined;
    await sampler.sample({
      ...short,
      onChunk: () => {
        drawn += 1;
        if (drawn === 5) late = sampler.sample(long);
        if (drawn === 8) swapped = sampler.swapWeights(change, 1);
      },
    });
    await swapped;
    const [through] = await late!;
    const [after] = await sampler.sample(long);
    expect([...through!.logprobs]).toEqual([...after!.logprobs]);
    expect(through!.weightChanges).toEqual([{ at: 0, weightVersion: 1 }]);
    await sampler.close();
  });
});
