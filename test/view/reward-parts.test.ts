import { expect, it } from "vitest";
import type { ScoredRow } from "../../src/view/index/query.ts";
import { correlation, rewardParts } from "../../src/view/reward-parts.ts";

// The data set mtcars of R: miles per gallon and weight.
const miles = [
  21, 21, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4, 10.4, 14.7,
  32.4, 30.4, 33.9, 21.5, 15.5, 15.2, 13.3, 19.2, 27.3, 26, 30.4, 15.8, 19.7, 15, 21.4,
];
const weight = [
  2.62, 2.875, 2.32, 3.215, 3.44, 3.46, 3.57, 3.19, 3.15, 3.44, 3.44, 4.07, 3.73, 3.78, 5.25, 5.424,
  5.345, 2.2, 1.615, 1.835, 2.465, 3.52, 3.435, 3.84, 3.845, 1.935, 2.14, 1.513, 3.17, 2.77, 3.57,
  2.78,
];

it("has the coefficient and the interval of R's cor.test(mtcars$mpg, mtcars$wt)", () => {
  const found = correlation(miles.map((one, i) => [one, weight[i]!] as const))!;
  expect(found.r).toBeCloseTo(-0.867_659_4, 7);
  expect(found.low).toBeCloseTo(-0.933_826_4, 6);
  expect(found.high).toBeCloseTo(-0.744_087_2, 6);
  expect(found.episodes).toBe(32);
});

it("has none where one side does not vary, or there is next to nothing", () => {
  const constant = [1, 2, 3, 4, 5].map((one) => [one, 0.1 + 0.2] as const);
  expect(correlation(constant)).toBeNull();
  expect(
    correlation([
      [1, 2],
      [2, 3],
      [3, 5],
    ]),
  ).toBeNull();
});

it("correlates every part that the evaluator reports, where it reports it", () => {
  const rows = Array.from({ length: 20 }, (_, i): ScoredRow => ({
    step: 1 + Math.floor(i / 5),
    reward: i % 4,
    calls: 2,
    toolCalls: i % 3,
    responseTokens: 100 - (i % 4),
    signals: i < 10 ? { format: i % 4, style: -(i % 4) } : { format: i % 4 },
  }));
  const { names, cells, fromStep, toStep, episodes } = rewardParts(rows)!;
  expect({ names, fromStep, toStep, episodes }).toEqual({
    names: ["reward", "format", "style", "response tokens", "calls", "tool calls"],
    fromStep: 1,
    toStep: 4,
    episodes: 20,
  });
  expect(cells[0]![1]!.r).toBeCloseTo(1, 9);
  expect(cells[0]![2]).toMatchObject({ episodes: 10 });
  expect(cells[0]![2]!.r).toBeCloseTo(-1, 9);
  expect(cells[0]![3]!.r).toBeCloseTo(-1, 9);
  expect(cells[0]![4]).toBeNull();
  expect(rewardParts([])).toBeNull();
});
