import { describe, expect, it } from "vitest";
import { createNormal, createRandom, deriveSeed } from "../../util/random.ts";
import { typicalInterval } from "./typical-interval.ts";

/** The two-sided sign-flip test at 5 %, as it is defined: over all signs, each tail at 2.5 %. */
function signFlipRejects(values: readonly number[]): boolean {
  const total = 2 ** values.length;
  const sumOf = (flipped: number) =>
    values.reduce((sum, value, i) => sum + ((flipped >> i) & 1 ? -value : value), 0);
  const observed = sumOf(0);
  const sums = Array.from({ length: total }, (_, set) => sumOf(set));
  const above = sums.filter((sum) => sum >= observed - 1e-9).length / total;
  const below = sums.filter((sum) => sum <= observed + 1e-9).length / total;
  return Math.min(above, below) <= 0.025;
}

const simulations = process.env["SOAK"] === "1" ? 5_000 : 300;

const excludesZero = ({ low, high }: ReturnType<typeof typicalInterval>): boolean =>
  (low !== null && low > 0) || (high !== null && high < 0);

interface Model {
  readonly tasks: number;
  readonly attempts: readonly [a: number, b: number];
  readonly shift: number;
  readonly isBinary: boolean;
}

/** Two evaluations of tasks of all difficulties; the second model's chance is `shift` higher. */
function differences({ tasks, attempts, shift, isBinary }: Model, seed: number): number[] {
  const random = createRandom(seed);
  const normal = createNormal(random);
  return Array.from({ length: tasks }, () => {
    const level = random();
    const attempt = (chance: number) =>
      isBinary ? Number(random() < chance) : chance + 0.3 * normal() ** 3;
    const mean = (count: number, chance: number) =>
      Array.from({ length: count }, () => attempt(chance)).reduce((a, b) => a + b, 0) / count;
    return mean(attempts[1], level + shift) - mean(attempts[0], level);
  });
}

function rejections(model: Model, times: number): number {
  let count = 0;
  for (let i = 0; i < times; i++) {
    if (excludesZero(typicalInterval(differences(model, deriveSeed(7, i)), deriveSeed(8, i))))
      count++;
  }
  return count / times;
}

describe("the interval of paired differences", () => {
  it("is from one quantile of the means of all subsets to the other", () => {
    // 64 subsets with the empty one: 2.5 % of them is one, so the ends are the smallest and largest mean.
    expect(typicalInterval([1, 2, 3, 4, 5, 6], 0)).toEqual({ low: 1, high: 6 });
    // Of 128, three: the means of {1}, {1, 2}, and then 2 of {2}, {1, 3} and {1, 2, 3}.
    expect(typicalInterval([1, 2, 3, 4, 5, 6, 7], 0)).toEqual({ low: 2, high: 6 });
  });

  it("has no ends for fewer than six tasks: all signs equal has a chance of 1 in 16 with five", () => {
    expect(typicalInterval([1, 1, 1, 1, 1], 0)).toEqual({ low: null, high: null });
    expect(typicalInterval([1, 1, 1, 1, 1, 1], 0)).toEqual({ low: 1, high: 1 });
  });

  it("leaves out 0 exactly where the sign-flip test rejects, ties and zeros included", () => {
    let rejected = 0;
    for (let seed = 0; seed < 300; seed++) {
      const random = createRandom(seed);
      const tasks = 6 + (seed % 5);
      const values = Array.from({ length: tasks }, () => Math.floor(random() * 4 - 0.7) / 10);
      const expected = signFlipRejects(values);
      expect(excludesZero(typicalInterval(values, 0)), values.join()).toBe(expected);
      rejected += Number(expected);
    }
    expect(rejected).toBeGreaterThan(20);
    expect(rejected).toBeLessThan(280);
  });

  // With 300 simulations the standard error is 1.3 %; with as many as SOAK=1 makes, 0.3 %.
  it.each([
    { tasks: 5, attempts: [1, 1], isBinary: true, least: 0, most: 0 },
    { tasks: 20, attempts: [1, 1], isBinary: true, least: 0, most: 0.05 },
    { tasks: 20, attempts: [4, 4], isBinary: true, least: 0.02, most: 0.08 },
    { tasks: 20, attempts: [1, 4], isBinary: true, least: 0.02, most: 0.08 },
    { tasks: 20, attempts: [4, 4], isBinary: false, least: 0.02, most: 0.08 },
    { tasks: 100, attempts: [1, 1], isBinary: true, least: 0.02, most: 0.08 },
    { tasks: 100, attempts: [4, 4], isBinary: true, least: 0.02, most: 0.08 },
  ] as const)(
    "calls the same model different in 5 % of cases or fewer: $tasks tasks, attempts $attempts, binary $isBinary",
    ({ least, most, ...model }) => {
      const rate = rejections({ ...model, shift: 0 }, simulations);
      expect(rate).toBeGreaterThanOrEqual(least);
      expect(rate).toBeLessThanOrEqual(most);
    },
  );

  it("finds a difference that is there", () => {
    const model = { tasks: 100, attempts: [4, 4], isBinary: true, shift: 0.15 } as const;
    expect(rejections(model, 40)).toBeGreaterThan(0.9);
  });
});
