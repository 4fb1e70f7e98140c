/** Numbers as people write them. */
import { describe, expect, it } from "vitest";
import { number } from "../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const score = (
  text: unknown,
  answer: unknown,
  options: Parameters<typeof number>[0] = {},
): number => number(options)(taskOf({ answer }), episodeOf(text)).reward;

describe("number", () => {
  it.each([
    ["1,234.5", "1234.50", 1],
    ["50%", 0.5, 1],
    ["50 %", "0.5", 1],
    ["50 percent", 0.5, 1],
    ["The total is $1,234.50.", 1234.5, 1],
    ["-3", -3, 1],
    ["−3", -3, 1],
    ["3-5", 5, 1],
    ["about GPT-4", 4, 1],
    ["(-2)", -2, 1],
    ["2 + 2 = 4", 4, 1],
    ["first 7, then 8", 8, 1],
    ["1e3", 1000, 1],
    ["1.2 × 10^3", 1200, 1],
    ["6.02 \\times 10^{23}", 6.02e23, 1],
    ["3/4", 0.75, 1],
    [".5", 0.5, 1],
    ["5.", 5, 1],
    ["2 million", 2e6, 1],
    ["1.5 billion people", 1.5e9, 1],
    ["1\u202f234\u202f567", 1234567, 1],
    ["1'234", 1234, 1],
    ["So 5 eggs.\n#### 72", "#### 72", 1],
    ["we get \\boxed{18} after 3 steps", 18, 1],
    ["12,34", 1234, 0],
    ["1,234", 1.234, 0],
    ["12345678901", 12345678952, 0],
    ["no number", 1, 0],
    ["", 0, 0],
    ["1e999", 1, 0],
    ["7", [6, 7], 1],
    [7, 7, 1],
  ])("%j against %j is %d", (text, answer, reward) => {
    expect(score(text, answer)).toBe(reward);
  });

  it.each([
    ["1.234,5", 1234.5, { decimal: "," }, 1],
    ["3,5", 3.5, { decimal: "," }, 1],
    ["50%", 50, { percent: "points" }, 1],
    ["3.1", Math.PI, { tolerance: { absolute: 0.05 } }, 1],
    ["3.1", Math.PI, { tolerance: { absolute: 0.01 } }, 0],
    ["99", 100, { tolerance: { relative: 0.01 } }, 1],
    ["98.9", 100, { tolerance: { relative: 0.01 } }, 0],
    ["1500 m", "1.5 km", { units: { m: 0.001, km: 1 } }, 1],
    ["1500", 1500, { units: { m: 1 }, requireUnit: true }, 0],
    ["1500 m", 1500, { units: { m: 1 }, requireUnit: true }, 1],
    ["4, then 5", 4, { extract: "first" }, 1],
    ["4", 4, { extract: "only" }, 1],
    ["4 or 5", 5, { extract: "only" }, 0],
  ] as const)("%j against %j with %j is %d", (text, answer, options, reward) => {
    expect(score(text, answer, options)).toBe(reward);
  });

  it("refuses a reference without a number", () => {
    expect(() => score("1", "one")).toThrow(/"one" of task "task-1" has no number/u);
  });

  it("reads 100,000 characters of digits in linear time", () => {
    // A search beyond linear work would be ended with an error.
    expect(score("1,".repeat(50_000), 1)).toBe(0);
    expect(score("1 ".repeat(50_000), 1)).toBe(1);
    expect(score("-".repeat(100_000), 1)).toBe(0);
  });
});
