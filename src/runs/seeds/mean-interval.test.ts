import { expect, it } from "vitest";
import { meanInterval, tQuantile } from "./mean-interval.ts";

it.each([
  [1, 12.706],
  [4, 2.776],
  [10, 2.228],
  [11, 2.201],
  [15, 2.131],
  [30, 2.042],
  [100, 1.984],
])("has the table's upper 2.5 %% point of t with %i degrees of freedom", (freedom, expected) => {
  expect(tQuantile(freedom)).toBeCloseTo(expected, 3);
});

it("gives the interval of a textbook, and none for one value", () => {
  // Mean 3, standard deviation sqrt(2.5): 3 ± 2.7764 · sqrt(2.5 / 5)
  const { mean, low, high } = meanInterval([1, 2, 3, 4, 5]);
  expect([mean, low, high].map((value) => Number(value!.toFixed(4)))).toEqual([3, 1.0368, 4.9632]);
  expect(meanInterval([7])).toEqual({ mean: 7, low: null, high: null });
});
