import { expect, it } from "vitest";
import { bandOf, bestOf, endsOf, rewardSpread, smooth } from "./curves.ts";

it("smooths with weights that add up to one from the first value on", () => {
  // 1; (3 + 0.5 * 1) / 1.5; (2 + 0.5 * 3 + 0.25 * 1) / 1.75.
  const smoothed = smooth([1, 3, 2], 0.5);
  expect(smoothed[0]).toBe(1);
  expect(smoothed[1]).toBeCloseTo(3.5 / 1.5, 12);
  expect(smoothed[2]).toBeCloseTo(3.75 / 1.75, 12);
  expect(smooth([2, null, 2], 0.9)).toEqual([2, null, 2]);
  expect(smooth([1, 5], 0)).toEqual([1, 5]);
});

it("spreads the reward by one standard deviation within the range of its rollouts", () => {
  const table = {
    steps: [1, 2, 3],
    series: {
      "reward/mean": [0.5, 0.9, null],
      "reward/std": [0.2, 0.3, null],
      "reward/agent/min": [0, 0, null],
      "reward/agent/max": [1, 1, null],
    },
  };
  const { low, high } = rewardSpread(table);
  expect(low[0]).toBeCloseTo(0.3, 12);
  expect(high[0]).toBeCloseTo(0.7, 12);
  expect(low[1]).toBeCloseTo(0.6, 12);
  // 0.9 + 0.3 is more than any rollout had.
  expect([high[1], high[2]]).toEqual([1, null]);
  // With two roles, no single range is that of all rollouts.
  const roles = { ...table.series, "reward/other/max": [0.1, 0.1, 0.1] };
  expect(rewardSpread({ ...table, series: roles }).high[1]).toBeCloseTo(1.2, 12);
  expect(rewardSpread({ steps: [1], series: {} }).low).toEqual([null]);
});

it("takes the mean and the range of several seeds, each as long as it ran", () => {
  expect(bandOf([[1, 2, 3], [3, null, 5], [2]])).toEqual({
    mean: [2, 2, 4],
    low: [1, 2, 3],
    high: [3, 2, 5],
  });
  expect(bandOf([])).toEqual({ mean: [], low: [], high: [] });
});

it("finds the best value and both ends", () => {
  expect(bestOf([null, 0.2, 0.7, 0.7, null])).toBe(2);
  expect(bestOf([null])).toBeNull();
  expect(endsOf([null, 1, null, 3, null])).toEqual([1, 3]);
});
