import { describe, expect, it } from "vitest";
import { defaultLoss } from "../../core/loss.ts";
import { randomTokens, rowOf, smallConfig } from "../../../test/engine/small-model.ts";
import { makeMicroBatches } from "./batch.ts";
import { batchLimits, bytesPerToken } from "./memory.ts";

const widthsOf = (lengths: readonly number[], most: number): number[][] =>
  makeMicroBatches(
    lengths.map((length) => rowOf(randomTokens(1, length), 1)),
    defaultLoss,
    {
      rows: () => ({ rows: most, checkpointed: false, fits: true }),
      scoresPerToken: 0,
      headChunkRows: 10,
    },
  ).map(({ modelInputs }) => [...modelInputs.positions.shape]);

describe("makeMicroBatches", () => {
  it("puts rows of similar length together, longest first, within the limit", () => {
    // [rows, width]; a row of n tokens is read up to its last but one.
    expect(widthsOf([300, 301, 299, 298, 297], 2)).toEqual([
      [2, 300],
      [2, 298],
      [1, 296],
    ]);
  });

  it("begins a new batch where padding would be large, but not while a batch is small", () => {
    expect(widthsOf([101, 401, 401, 401, 101], 100)).toEqual([
      [3, 400],
      [2, 100],
    ]);
    expect(widthsOf([41, 11, 11], 100)).toEqual([[3, 40]]);
  });

  it("cuts trained tokens into equal chunks and pads the last", () => {
    const [batch] = makeMicroBatches([rowOf(randomTokens(1, 24), 1)], defaultLoss, {
      rows: () => ({ rows: 1, checkpointed: false, fits: true }),
      scoresPerToken: 0,
      headChunkRows: 10,
    });
    const { chunk, chunks, targets } = batch!.modelInputs;
    expect([chunk.data, chunks.data, targets.shape]).toEqual([
      BigInt64Array.of(8n),
      BigInt64Array.of(3n),
      [24],
    ]);
  });

  it("keeps the parts of a token's weight apart: its own, and its factor in the mean", () => {
    const row = { ...rowOf(randomTokens(1, 5), 1), weights: Float32Array.of(9, 1, 2, 3, 4) };
    const [batch] = makeMicroBatches([row], defaultLoss, {
      rows: () => ({ rows: 1, checkpointed: false, fits: true }),
      scoresPerToken: 0,
      headChunkRows: 10,
    });
    const { weights, factors, row_shares } = batch!.lossInputs;
    expect([...(weights.data as Float32Array)]).toEqual([1, 2, 3, 4]);
    expect([...(factors.data as Float32Array)]).toEqual([0.25, 0.25, 0.25, 0.25]);
    expect([...(row_shares.data as Float32Array)]).toEqual([0.25]);
  });
});

describe("batchLimits", () => {
  const mib = 2 ** 20;
  it("takes as many rows as the estimate allows, and checkpoints layers when not even one fits", () => {
    const oneRow = (bytesPerToken(smallConfig, 100, false) * 100) / mib;
    expect(batchLimits(smallConfig, 3.5 * oneRow).rows(100)).toEqual({
      rows: 3,
      checkpointed: false,
      fits: true,
    });
    const deep = { ...smallConfig, layers: 40 };
    const oneDeepRow = (bytesPerToken(deep, 100, false) * 100) / mib;
    const { rows, checkpointed, fits } = batchLimits(deep, oneDeepRow * 0.9).rows(100);
    expect([checkpointed, fits]).toEqual([true, true]);
    expect(rows).toBeGreaterThan(1);
    expect(batchLimits(deep, 0).rows(100)).toEqual({ rows: 1, checkpointed: true, fits: false });
  });

  it("bounds the logits that exist at a time", () => {
    const large = { ...smallConfig, vocabSize: 49_152 };
    const { headChunkRows } = batchLimits(large, 100);
    expect(headChunkRows * 49_152 * 4).toBeLessThanOrEqual(32 * mib);
  });
});
