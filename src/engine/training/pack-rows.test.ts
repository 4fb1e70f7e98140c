import { describe, expect, it } from "vitest";
import { defaultLoss, defaultOptim, lossNames } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { randomTokens, rowOf, smallConfig, smallPolicy } from "../../../test/engine/small-model.ts";
import { rowFactors } from "../../core/loss/aggregation.ts";
import { makeMicroBatches, type MicroBatch } from "./micro-batch.ts";
import { PolicyTrainer } from "./trainer.ts";
import { batchLimits } from "./memory.ts";
import type { BatchLimits } from "./batch-limits.ts";
import { tokensOf, packRows } from "./pack-rows.ts";

/** `prompt` and a continuation of `own` tokens, which are trained. */
const continued = (prompt: Int32Array, seed: number, own: number): TrainingRow =>
  rowOf(Int32Array.from([...prompt, ...randomTokens(seed, own)]), prompt.length, {
    logprobs: new Float32Array(own).fill(-2),
    advantage: Math.sin(3 * seed),
  });
const roomy: BatchLimits = { fit: () => "kept", headChunkRows: 100 };
const pack = (rows: readonly TrainingRow[], limits: BatchLimits = roomy) =>
  packRows(
    rows.map((row, index) => ({ row, index })),
    limits,
  );
const membersOf = (rows: readonly TrainingRow[], fit: BatchLimits["fit"]): number[][] =>
  pack(rows, { ...roomy, fit })
    .map(({ members }) => members.map(({ index }) => index))
    .toSorted((a, b) => a[0]! - b[0]!);

const batchesOf = (all: readonly TrainingRow[], limits: BatchLimits): readonly MicroBatch[] =>
  makeMicroBatches(all, rowFactors(all, defaultLoss.aggregation), limits, null);

const prompts = [randomTokens(1, 20), randomTokens(2, 30)];
const rows = [
  continued(prompts[0]!, 11, 5),
  continued(prompts[1]!, 12, 9),
  continued(prompts[0]!, 13, 8),
  continued(prompts[0]!, 14, 3),
  continued(prompts[1]!, 15, 9),
];

describe("packRows", () => {
  it("shares all of a prompt but the token that makes the first prediction", () => {
    // 19 shared, then the last token of the prompt and all but the last of the continuation.
    const packs = pack(rows);
    expect(packs.map(({ shared }) => shared)).toEqual([19, 29]);
    expect(packs.map(({ members }) => members.map(({ index }) => index))).toEqual([
      [0, 2, 3],
      [1, 4],
    ]);
    expect(packs.map(tokensOf)).toEqual([19 + 5 + 8 + 3, 29 + 9 + 9]);
  });

  it("shares nothing where prompts differ in one token, or where the first token is trained", () => {
    const other = prompts[0]!.slice();
    other[4] = (other[4]! + 1) % 48;
    const pair = [rows[0]!, continued(other, 11, 5)];
    expect(pack(pair).map(({ shared }) => shared)).toEqual([0, 0]);
    const whole = [rowOf(randomTokens(1, 9), 1), rowOf(randomTokens(1, 9), 1)];
    expect(membersOf(whole, () => "kept")).toEqual([[0], [1]]);
  });

  it("keeps rows apart where memory ends", () => {
    const narrow = (tokens: number) => (tokens > 29 ? "exceeded" : "kept");
    // The first two of three rows of 20 tokens and 5, 8 and 3 more: 19 + 5 + 8.
    expect(membersOf(rows, narrow)).toEqual([[0], [1], [2], [3], [4]]);
    const wider = (tokens: number) => (tokens > 32 ? "exceeded" : "kept");
    expect(membersOf(rows, wider)).toEqual([[0, 2], [1], [3], [4]]);
    // Layers must not be computed again for it; where they are anyway, nothing is lost.
    const cutting = (tokens: number) => (tokens > 29 ? "recomputed" : "kept");
    expect(membersOf(rows, cutting)).toEqual([[0], [1, 4], [2], [3]]);
  });

  it("lets a token see the shared beginning and what comes before it in its own row", () => {
    const pair = [1, 2].map((own) => continued(Int32Array.of(1, 2, 3), own, own));
    const [batch] = batchesOf(pair, roomy) as [MicroBatch];
    // 1 2, then what the longer row has of its own, then the other's.
    expect([...batch.ids]).toEqual([1, 2, 3, pair[1]!.tokens[3], 3]);
    expect([...batch.positions]).toEqual([0, 1, 2, 3, 2]);
    expect(batch.segments).toEqual([
      { start: 0, length: 2, prefix: null },
      { start: 2, length: 2, prefix: 0 },
      { start: 4, length: 1, prefix: 0 },
    ]);
    expect([...batch.places]).toEqual([2, 3, 4]);
    expect([...batch.targets]).toEqual([...pair[1]!.tokens.subarray(3), pair[0]!.tokens[3]]);
  });
});

describe("a packed batch gives what its rows give one by one", () => {
  const cases = [
    ...lossNames.map((name) => [name, 100, false] as const),
    // Here layers of a single row are computed again already.
    ["ppo", 0.22, true] as const,
  ];
  it.each(cases)("%s, within %d MiB", async (name, memoryMiB, isRecomputed) => {
    const layerKinds = Array.from({ length: 6 }, () => smallConfig.layerKinds[0]!);
    const config = isRecomputed ? { ...smallConfig, layers: 6, layerKinds } : smallConfig;
    const limits = batchLimits(config, memoryMiB);
    const batches = batchesOf(rows, limits);
    expect(batches.map((batch) => batch.isRecomputed)).toContain(isRecomputed);
    expect(Math.max(...batches.map((batch) => batch.rows.length))).toBe(isRecomputed ? 3 : 5);

    const loss = { ...defaultLoss, name, aggregation: "token-sum" } as const;
    const trainer = new PolicyTrainer(await smallPolicy(null, { config, threads: 2 }), {
      memoryMiB,
    });
    const gradients = (): [string, Float32Array][] =>
      [...trainer.accumulatedGradients].map(([key, value]) => [key, value.slice()]);
    const together = await trainer.forwardBackward(rows, loss);
    const found = new Map(gradients());
    const logprobs = await trainer.forward(rows);
    await trainer.optimStep({ ...defaultOptim, learningRate: 0 });
    let total = 0;
    for (const [i, row] of rows.entries()) {
      total += (await trainer.forwardBackward([row], loss))["loss"]!;
      const [alone] = await trainer.forward([row]);
      expect(logprobs[i]).toEqual(alone);
    }
    expect(Math.abs(together["loss"]! - total)).toBeLessThan(1e-4 * Math.abs(total) + 1e-5);
    for (const [key, expected] of gradients()) {
      const largest = expected.reduce((most, g) => Math.max(most, Math.abs(g)), 0);
      for (const [i, g] of expected.entries())
        expect(Math.abs(found.get(key)![i]! - g), key).toBeLessThan(1e-4 * largest);
    }
  });
});
