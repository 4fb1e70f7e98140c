/**
 * Every loss against worked numbers: fixture F1 as verl 0.8 computes it, Tinker's published formulas
 * in plain doubles, and finite differences.
 */
import { describe, expect, it } from "vitest";
import { rowFactors } from "../../core/loss/aggregation.ts";
import {
  klEstimators,
  lossNames,
  type LossAggregation,
  type LossSpec,
} from "../../core/loss/loss.ts";
import { rowOf } from "../../../test/engine/small-model.ts";
import { published, spec, sumOf, verl, verlClip } from "../../../test/engine/published-losses.ts";
import { runObjective, type ObjectiveCase } from "../../../test/engine/run-objective.ts";

function expectNear(actual: readonly number[], expected: readonly number[]): void {
  expect(actual.length).toBe(expected.length);
  for (const [i, value] of expected.entries())
    expect(Math.abs(actual[i]! - value), `[${i}] ${actual[i]} against ${value}`).toBeLessThan(2e-6);
}

describe("losses equal published numbers", () => {
  it.each(published)("%s", async (_, item, loss, value, gradient) => {
    const result = runObjective(item, loss);
    expectNear([result.loss], [value]);
    if (gradient !== undefined) expectNear(result.gradient.flat(), gradient.flat());
  });

  it("covers every loss", () => {
    expect(new Set(published.map(([, , { name }]) => name))).toEqual(new Set(lossNames));
  });

  it.each([
    ["a ratio too high, a bad token", 1.5, -1, 1.5, true],
    ["a ratio too low, a bad token", 0.5, -1, 0.8, false],
    ["a ratio too low, a good token", 0.5, 1, -0.5, true],
    ["a ratio too high, a good token", 1.5, 1, -1.2, false],
  ])("ppo: %s", async (_, ratio, advantage, value, flows) => {
    const item = { now: [[Math.log(ratio)]], sampled: [[0]], advantages: [advantage] };
    const { loss, gradient, sums } = runObjective(item, spec("ppo"));
    expectNear([loss], [value]);
    expect(gradient[0]![0] !== 0).toBe(flows);
    expect(sums.clipped).toBe(flows ? 0 : 1);
  });

  it("reports how many tokens were clipped", async () => {
    const clipped = async (loss: LossSpec): Promise<number> =>
      runObjective(verl, loss).sums.clipped! / 10;
    expect(await clipped(spec("ppo", verlClip))).toBeCloseTo(0.2, 6);
    expect(await clipped(spec("cispo", verlClip))).toBeCloseTo(0.5, 6);
  });
});

describe("KL to a reference", () => {
  // The fixture's log-probabilities when sampled stand for the reference.
  const item = { ...verl, advantages: [0, 0, 0], reference: verl.sampled };
  it.each([
    ["k1", 0.025],
    ["k2", 0.200625],
    ["k3", 0.241214],
  ] as const)("%s", async (estimator, value) => {
    const { loss, sums } = runObjective(
      item,
      spec("importance_sampling", { kl: { coef: 1, estimator } }),
    );
    expectNear([loss, sums.kl! / 10], [value, value]);
  });

  it("k3 has the published gradient, scaled by its coefficient", async () => {
    const { gradient } = runObjective(
      item,
      sumOf("importance_sampling", { kl: { coef: 0.5, estimator: "k3" } }),
    );
    expectNear(
      gradient[0]!,
      [0.095163, -0.491825, 0.259182, 0].map((g) => g / 2),
    );
  });

  it("is added to the loss, and not weighted with the tokens", async () => {
    const weights = verl.now.map((row) => row.map(() => 0));
    const { loss } = runObjective(
      { ...verl, weights, reference: verl.sampled },
      spec("ppo", { kl: { coef: 2, estimator: "k2" } }),
    );
    expectNear([loss], [2 * 0.200625]);
  });

  it("k3 of one outlier stays within its limit", async () => {
    const far = { now: [[-60]], sampled: [[-1]], reference: [[-1]], advantages: [0] };
    const { loss } = runObjective(
      far,
      spec("importance_sampling", { kl: { coef: 1, estimator: "k3" } }),
    );
    expect(loss).toBe(10);
  });
});

describe("gradients equal finite differences", () => {
  // Away from kinks; advantages are equal within a row, as gspo's token form asks for.
  const item: ObjectiveCase = { ...verl, reference: verl.sampled.map((row) => row.map(() => -1)) };
  const cases = [
    ...lossNames.map((name) => spec(name, { aggregation: "seq-mean-token-mean", dualClip: 3 })),
    ...klEstimators.map((estimator) => spec("ppo", { kl: { coef: 0.7, estimator } })),
  ];
  // Weights without a gradient are part of cispo: its gradient is not that of its value.
  it.each(
    cases
      .filter(({ name }) => name !== "cispo")
      .map((loss) => [JSON.stringify(loss), loss] as const),
  )("%s", async (_, loss) => {
    const { gradient } = runObjective(item, loss);
    const step = 1e-5;
    for (const [i, row] of item.now.entries()) {
      for (const [k, l] of row.entries()) {
        if (l === null) continue;
        const at = async (value: number): Promise<number> => {
          const now = item.now.map((other, j) => (j === i ? other.with(k, value) : other));
          return runObjective({ ...item, now }, loss).loss;
        };
        const numeric = ((await at(l + step)) - (await at(l - step))) / (2 * step);
        expect(Math.abs(numeric - gradient[i]![k]!)).toBeLessThan(1e-6);
      }
    }
  });
});

describe("numbers out of bounds are refused by name", () => {
  it.each([
    ["epsClip", { epsClip: -0.1 }],
    ["epsClipHigh", { epsClipHigh: Number.NaN }],
    ["dualClip", { dualClip: 1 }],
    ["droBeta", { droBeta: 0 }],
    ["sapoTauPositive", { sapoTauPositive: 0 }],
    ["sapoTauNegative", { sapoTauNegative: -1 }],
    ["kl.coef", { kl: { coef: -1, estimator: "k1" } }],
  ] as const)("%s", (option, extra) => {
    expect(() => runObjective(verl, spec("ppo", extra))).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        fields: expect.objectContaining({ option }) as object,
      }),
    );
  });
});

describe("rowFactors", () => {
  const losses = [
    [0.1, 0.2, 0.3, 0.4],
    [1, 9, 2, 3],
    [-1, 0.5, 0.25, 7],
  ];
  const masks = [
    [1, 1, 1, 1],
    [1, 0, 1, 1],
    [1, 1, 1, 0],
  ];
  const aggregate = (aggregation: LossAggregation, length?: number, kept = 3): number => {
    const rows = masks.map((mask, i) => ({
      ...rowOf(new Int32Array(5), 1),
      targetMask: Uint8Array.from([0, ...mask.map((m) => (i < kept ? m : 0))]),
    }));
    const factors = rowFactors(rows, aggregation, length);
    return losses
      .slice(0, kept)
      .flatMap((row, i) => row.map((x, k) => x * masks[i]![k]! * factors[i]!))
      .reduce((total, x) => total + x, 0);
  };
  it.each([
    ["token-mean", 0.675, 1],
    ["seq-mean-token-sum", 2.25, 3.5],
    ["seq-mean-token-mean", 0.722222, 1.125],
    ["seq-mean-token-sum-norm", 0.5625, 0.875],
  ] as const)("%s", (aggregation, value, withoutLast) => {
    expect(aggregate(aggregation)).toBeCloseTo(value, 6);
    expect(aggregate(aggregation, undefined, 2)).toBeCloseTo(withoutLast, 6);
  });

  it("divides by the length it is given", () => {
    expect(aggregate("seq-mean-token-sum-norm", 8)).toBeCloseTo(0.28125, 6);
  });
});
