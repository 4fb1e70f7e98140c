import { expect, it } from "vitest";
import { createBeta } from "./beta.ts";
import { createRandom } from "./random.ts";

it.each([
  [1, 1],
  [1, 9],
  [20, 3],
  [2.5, 1.5],
])("has the mean and the variance of Beta(%d, %d)", (a, b) => {
  const beta = createBeta(createRandom(7));
  const values = Array.from({ length: 20_000 }, () => beta(a, b));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const expected = (a * b) / ((a + b) ** 2 * (a + b + 1));
  // Five standard errors.
  expect(Math.abs(mean - a / (a + b))).toBeLessThan(5 * Math.sqrt(expected / values.length));
  expect(Math.abs(variance / expected - 1)).toBeLessThan(0.1);
  expect(values.every((value) => value > 0 && value < 1)).toBe(true);
});
