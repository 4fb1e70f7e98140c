import { describe, expect, it } from "vitest";
import { defaultLoss } from "../../core/loss/loss.ts";
import { randomTokens, rowOf, smallConfig } from "../../../test/engine/small-model.ts";
import { makeMicroBatches } from "./batch.ts";
import type { BatchLimits } from "./batch-limits.ts";
import { batchLimits, bytesOfBatch } from "./memory.ts";

const roomy: BatchLimits = { fit: () => "kept", headChunkRows: 10 };
/** Tokens of each batch, and of its suffixes with padding. */
const sizesOf = (lengths: readonly number[], most: number): unknown[] =>
  makeMicroBatches(
    lengths.map((length) => rowOf(randomTokens(1, length), 1)),
    defaultLoss,
    { ...roomy, fit: ({ tokens }) => (tokens > most ? "exceeded" : "kept") },
  ).map(({ modelInputs }) => [
    modelInputs.ids.shape[0],
    modelInputs.suffix_mask.shape.filter((_, axis) => axis === 0 || axis === 3),
  ]);

describe("makeMicroBatches", () => {
  it("puts rows of similar length together, longest first, within the limit", () => {
    // A row of n tokens is read up to its last but one.
    expect(sizesOf([300, 301, 299, 298, 297], 600)).toEqual([
      [599, [2, 300]],
      [595, [2, 298]],
      [296, [1, 296]],
    ]);
  });

  it("begins a new batch where attention would mostly compute padding, but not while a batch is small", () => {
    expect(sizesOf([101, 401, 401, 401, 101, 101, 101], 10_000)).toEqual([
      [1300, [4, 400]],
      [300, [3, 100]],
    ]);
    expect(sizesOf([41, 11, 11], 10_000)).toEqual([[60, [3, 40]]]);
  });

  it("holds a bounded number of shared beginnings", () => {
    const pairs = Array.from({ length: 70 }, (_, seed) => rowOf(randomTokens(seed, 6), 4));
    const batches = makeMicroBatches([...pairs, ...pairs], defaultLoss, roomy);
    expect(batches.map(({ modelInputs }) => modelInputs.suffix_prefixes.shape)).toEqual([
      [128, 64],
      [12, 6],
    ]);
  });

  it("cuts trained tokens into equal chunks and pads the last", () => {
    const [batch] = makeMicroBatches([rowOf(randomTokens(1, 24), 1)], defaultLoss, roomy);
    const { chunk, chunks, targets } = batch!.modelInputs;
    expect([chunk.data, chunks.data, targets.shape]).toEqual([
      BigInt64Array.of(8n),
      BigInt64Array.of(3n),
      [24],
    ]);
  });

  it("keeps the parts of a token's weight apart: its own, and its factor in the mean", () => {
    const row = { ...rowOf(randomTokens(1, 5), 1), weights: Float32Array.of(9, 1, 2, 3, 4) };
    const [batch] = makeMicroBatches([row], defaultLoss, roomy);
    const { weights, factors, row_shares } = batch!.lossInputs;
    expect([...(weights.data as Float32Array)]).toEqual([1, 2, 3, 4]);
    expect([...(factors.data as Float32Array)]).toEqual([0.25, 0.25, 0.25, 0.25]);
    expect([...(row_shares.data as Float32Array)]).toEqual([0.25]);
  });
});

describe("batchLimits", () => {
  const mib = 2 ** 20;
  const size = { tokens: 100, scores: 100 ** 2, keys: 100 };
  it("keeps activations while they fit, then only layers' inputs, then refuses", () => {
    const deep = { ...smallConfig, layers: 40 };
    const [kept, recomputed] = [false, true].map((again) => bytesOfBatch(deep, size, again) / mib);
    expect(batchLimits(deep, kept! * 1.01).fit(size)).toBe("kept");
    expect(batchLimits(deep, kept! * 0.99).fit(size)).toBe("recomputed");
    expect(batchLimits(deep, recomputed! * 0.99).fit(size)).toBe("exceeded");
  });

  it("counts scores and keys as well as tokens", () => {
    const of = (more: Partial<typeof size>): number =>
      bytesOfBatch(smallConfig, { ...size, ...more }, false);
    expect(of({ scores: 2 * size.scores }) - of({})).toBe(
      4 * smallConfig.layers * 2 * smallConfig.heads * size.scores,
    );
    expect(of({ keys: 200 }) - of({})).toBe(
      4 * smallConfig.layers * 2 * smallConfig.kvHeads * smallConfig.headSize * 100,
    );
    expect(of({ tokens: 200 })).toBeGreaterThan(of({ tokens: 199 }));
  });

  it("bounds the logits that exist at a time", () => {
    const large = { ...smallConfig, vocabSize: 49_152 };
    const { headChunkRows } = batchLimits(large, 100);
    expect(headChunkRows * 49_152 * 4).toBeLessThanOrEqual(96 * mib);
  });
});
