import { expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import { differenceInterval, look, type Tally } from "./canary-rule.ts";

/** Table II of Newcombe 1998, method 10 (without continuity correction), at 95 %. */
it.each([
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 20, -0.1611, 0.2775],
  [10, 10, 0, 10, 0.6075, 1],
])("has the published interval of %d/%d - %d/%d", (a, m, b, n, low, high) => {
  const found = differenceInterval({ sum: a, n: m }, { sum: b, n }, 1.959964);
  expect(found.low).toBeCloseTo(low, 4);
  expect(found.high).toBeCloseTo(high, 4);
});

const rule = { minFeedback: 30, minGain: 0, maxLoss: 0 };
const tally = (n: number, mean: number): Tally => ({ n, sum: n * mean });

it("looks when both have enough feedback, and then at each doubling", () => {
  expect(look(tally(1000, 0.5), tally(29, 1), 0, rule)).toBeNull();
  expect(look(tally(30, 0.5), tally(30, 0.5), 0, rule)).toMatchObject({ verdict: null });
  expect(look(tally(1000, 0.5), tally(59, 0.5), 1, rule)).toBeNull();
  expect(look(tally(60, 0.5), tally(60, 0.5), 1, rule)).not.toBeNull();
});

it("rolls back what is clearly worse, promotes what is clearly better, within the limits", () => {
  const verdictOf = (mean: number, changes: Partial<typeof rule> = {}) =>
    look(tally(100, 0.5), tally(100, mean), 0, { ...rule, ...changes })?.verdict;
  expect([verdictOf(0.2), verdictOf(0.45), verdictOf(0.8)]).toEqual(["roll back", null, "promote"]);
  expect(verdictOf(0.2, { maxLoss: 0.3 })).toBeNull();
  expect(verdictOf(0.8, { minGain: 0.3 })).toBeNull();
  expect(verdictOf(0.5, { minGain: -0.2 })).toBe("promote");
});

it("is wrong about equal versions in at most 5 % of trials, with all looks", () => {
  const random = createRandom(7);
  const trials = 2000;
  let wrong = 0;
  for (let trial = 0; trial < trials; trial++) {
    const sums = [0, 0] as [number, number];
    let looks = 0;
    for (let n = 1; n <= 480; n++) {
      for (const side of [0, 1] as const) sums[side] += random() < 0.7 ? 1 : 0;
      const found = look({ n, sum: sums[0] }, { n, sum: sums[1] }, looks, rule);
      if (found === null) continue;
      looks++;
      if (found.verdict === null) continue;
      wrong++;
      break;
    }
  }
  expect(wrong / trials).toBeLessThan(0.06);
  expect(wrong).toBeGreaterThan(0);
});
