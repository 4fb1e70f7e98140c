import { describe, expect, it } from "vitest";
import { klEstimate, ktoMetrics, ktoTerm } from "./kto-loss.ts";

const weights = { beta: 0.3, desirableWeight: 1.5, undesirableWeight: 0.5 };
const at = (policy: number, isDesirable: boolean, kl = 2) =>
  ktoTerm({ policy, reference: -10, isDesirable }, kl, weights);

describe("ktoTerm", () => {
  it("is half the weight where the reward is that of the KL", () => {
    expect(at(-8, true).loss).toBeCloseTo(0.75, 12);
    expect(at(-8, false).loss).toBeCloseTo(0.25, 12);
  });

  it.each([
    [true, -9],
    [true, 3],
    [false, -14],
    [false, -7.5],
  ])("has the gradient of finite differences, desirable %s at %d", (isDesirable, policy) => {
    const step = 1e-5;
    const change = at(policy + step, isDesirable).loss - at(policy - step, isDesirable).loss;
    expect(at(policy, isDesirable).gradient).toBeCloseTo(change / (2 * step), 8);
  });

  it("saturates, and does not overflow", () => {
    for (const policy of [-1e6, 1e6]) {
      for (const isDesirable of [true, false]) {
        const isRight = policy > 0 === isDesirable;
        const { loss, gradient } = at(policy, isDesirable);
        expect(loss).toBe(isRight ? 0 : isDesirable ? 1.5 : 0.5);
        expect(Math.abs(gradient)).toBe(0);
      }
    }
  });
});

it("estimates no KL below 0", () => {
  expect(klEstimate([1, -4])).toBe(0);
  expect(klEstimate([1, 4])).toBe(2.5);
});

it("leaves out rewards of a label that no example of a batch has", () => {
  expect(Object.keys(ktoMetrics([at(-9, true)], 0))).toEqual([
    ...["loss", "kl", "rewards/chosen", "examples/chosen", "examples/rejected"],
  ]);
});
