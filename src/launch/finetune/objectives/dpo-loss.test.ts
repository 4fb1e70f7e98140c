import { describe, expect, it } from "vitest";
import { dpoMetrics, dpoTerm } from "./dpo-loss.ts";

const reference = { chosen: -12, rejected: -9 };

describe("dpoTerm", () => {
  it("is log 2 where policy and reference agree", () => {
    const { loss, chosenReward, rejectedReward } = dpoTerm(reference, reference, 0.1);
    expect(loss).toBeCloseTo(Math.log(2), 12);
    expect([chosenReward, rejectedReward]).toEqual([0, 0]);
  });

  it.each([0.05, 0.5, 5])("has the gradient of finite differences, beta %d", (beta) => {
    const at = (chosen: number, rejected: number) => dpoTerm({ chosen, rejected }, reference, beta);
    const step = 1e-5;
    const { gradient } = at(-11, -9.5);
    const byChosen = (at(-11 + step, -9.5).loss - at(-11 - step, -9.5).loss) / (2 * step);
    const byRejected = (at(-11, -9.5 + step).loss - at(-11, -9.5 - step).loss) / (2 * step);
    expect(gradient).toBeCloseTo(byChosen, 7);
    expect(-gradient).toBeCloseTo(byRejected, 7);
  });

  it("does not overflow", () => {
    const far = dpoTerm({ chosen: -1e5, rejected: 0 }, reference, 1);
    expect(far.loss).toBeCloseTo(1e5 - 3, 0);
    expect(dpoTerm({ chosen: 0, rejected: -1e5 }, reference, 1).loss).toBe(0);
    expect(far.gradient).toBe(-1);
  });
});

it("counts a pair as right only where the chosen reward is higher, as TRL does", () => {
  const equal = dpoTerm(reference, reference, 0.1);
  const right = dpoTerm({ chosen: -11, rejected: -9 }, reference, 0.1);
  expect(dpoMetrics([equal, right])["rewards/accuracies"]).toBe(0.5);
});
