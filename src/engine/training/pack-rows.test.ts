import { describe, expect, it } from "vitest";
import { defaultLoss, defaultOptim, lossNames } from "../../core/loss.ts";
import type { TrainingRow } from "../../core/training-row.ts";
import { randomTokens, rowOf, smallConfig, smallModel } from "../../../test/engine/small-model.ts";
import { maskedScore } from "../model/transformer.ts";
import { makeMicroBatches } from "./batch.ts";
import { batchLimits } from "./memory.ts";
import { packMask, packRows } from "./pack-rows.ts";
import { PolicyTrainer } from "./policy-trainer.ts";

/** `prompt` and a continuation of `own` tokens, which are trained. */
const continued = (prompt: Int32Array, seed: number, own: number): TrainingRow =>
  rowOf(Int32Array.from([...prompt, ...randomTokens(seed, own)]), prompt.length, {
    logprobs: new Float32Array(own).fill(-2),
    advantage: Math.sin(3 * seed),
  });
const roomy = {
  rows: () => ({ rows: 100, checkpointed: false, fits: true }),
  scoresPerToken: 1e6,
  headChunkRows: 100,
};
const pack = (rows: readonly TrainingRow[], limits: Partial<typeof roomy> = {}) =>
  packRows(
    rows.map((row, index) => ({ row, index })),
    { ...roomy, ...limits },
  ).map(({ shared, width, members }) => [shared, width, members.map(({ index }) => index)]);

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
    // Width: 19 shared, then the last token of the prompt and all but the last of the continuation.
    expect(pack(rows)).toEqual([
      [19, 19 + 5 + 8 + 3, [0, 2, 3]],
      [29, 29 + 9 + 9, [1, 4]],
    ]);
  });

  it("shares nothing where prompts differ in one token, or where the first token is trained", () => {
    const other = prompts[0]!.slice();
    other[4] = (other[4]! + 1) % 48;
    const pair = [rows[0]!, continued(other, 11, 5)];
    expect(pack(pair).map(([shared]) => shared)).toEqual([0, 0]);
    const whole = [rowOf(randomTokens(1, 9), 1), rowOf(randomTokens(1, 9), 1)];
    expect(pack(whole).map(([, , members]) => members)).toEqual([[0], [1]]);
  });

  it("keeps rows apart where the longer attention would cost more, and where memory ends", () => {
    const members = (limits: Partial<typeof roomy>, of = rows): unknown =>
      pack(of, limits)
        .map(([, , list]) => list as number[])
        .toSorted((a, b) => a[0]! - b[0]!);
    // 3 shared and 20 own tokens each: 43^2 - 2 * 23^2 = 791 scores more.
    const long = [1, 2].map((seed) => continued(Int32Array.of(1, 2, 3, 4), seed, 20));
    expect(members({ scoresPerToken: 791 / 3 + 1 }, long)).toEqual([[0, 1]]);
    expect(members({ scoresPerToken: 791 / 3 - 1 }, long)).toEqual([[0], [1]]);
    const narrow = (width = 0) => ({ rows: 1, checkpointed: false, fits: width <= 29 });
    expect(members({ rows: narrow })).toEqual([[0], [1], [2], [3], [4]]);
    // Layers must not be computed again for it; where they are anyway, nothing is lost.
    const cutting = (width = 0) => ({ rows: 1, checkpointed: width > 29, fits: true });
    expect(members({ rows: cutting })).toEqual([[0], [1, 4], [2], [3]]);
  });

  it("lets a token see the shared beginning and what comes before it in its own row", () => {
    const [first] = packRows(
      [continued(Int32Array.of(1, 2, 3), 1, 1), continued(Int32Array.of(1, 2, 3), 2, 2)].map(
        (row, index) => ({ row, index }),
      ),
      roomy,
    );
    const seen = [...packMask(first!, 6)].map((value) => (value === maskedScore ? "." : "x"));
    expect(Array.from({ length: 6 }, (_, i) => seen.slice(6 * i, 6 * i + 6).join(""))).toEqual([
      "x.....",
      "xx....",
      "xxx...",
      "xx.x..",
      "xx.xx.",
      ".....x",
    ]);
  });
});

describe("a packed batch gives what its rows give one by one", () => {
  const config = { ...smallConfig, layers: 6 };
  const cases = [
    ...lossNames.map((name) => [name, 100, false] as const),
    // Here layers of a single row are computed again already.
    ["ppo", 0.42, true] as const,
  ];
  it.each(cases)("%s, within %d MiB", async (name, memoryMiB, checkpointed) => {
    const limits = batchLimits(config, memoryMiB);
    const batches = makeMicroBatches(rows, defaultLoss, limits);
    expect(batches.map((batch) => batch.checkpointed)).toContain(checkpointed);
    expect(Math.max(...batches.map(({ lossInputs }) => lossInputs.row_shares.shape[0]!))).toBe(
      checkpointed ? 3 : 5,
    );

    const loss = { ...defaultLoss, name, aggregation: "token-sum" } as const;
    const trainer = new PolicyTrainer(smallModel(null, config), { threads: 1, memoryMiB });
    const gradients = (): [string, Float32Array][] =>
      [...trainer.accumulatedGradients].map(([key, value]) => [key, value.slice()]);
    const together = await trainer.forwardBackward(rows, loss);
    const found = new Map(gradients());
    const logprobs = await trainer.forward(rows);
    trainer.optimStep({ ...defaultOptim, learningRate: 0 });
    let total = 0;
    for (const [i, row] of rows.entries()) {
      total += (await trainer.forwardBackward([row], loss))["loss"]!;
      const [alone] = await trainer.forward([row]);
      for (const [k, l] of alone!.entries())
        expect(Math.abs(logprobs[i]![k]! - l)).toBeLessThan(1e-5);
    }
    expect(Math.abs(together["loss"]! - total)).toBeLessThan(1e-4 * Math.abs(total) + 1e-5);
    for (const [key, expected] of gradients()) {
      const largest = expected.reduce((most, g) => Math.max(most, Math.abs(g)), 0);
      for (const [i, g] of expected.entries())
        expect(Math.abs(found.get(key)![i]! - g), key).toBeLessThan(1e-4 * largest);
    }
    await trainer.close();
  });
});
