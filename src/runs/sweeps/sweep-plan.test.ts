import { expect, it } from "vitest";
import { planSweep } from "./sweep-plan.ts";

const grid = { "training.learning_rate": [1e-4, 1e-3], "rollout.n": [4, 8] };

it("makes every combination with the first seed before any with the second", () => {
  const { points, runs } = planSweep({ parameters: grid }, [3, 5]);
  expect(points).toHaveLength(4);
  expect(runs.map(({ name }) => name)).toEqual([
    "learning_rate=0.0001,n=4,seed=3",
    "learning_rate=0.0001,n=8,seed=3",
    "learning_rate=0.001,n=4,seed=3",
    "learning_rate=0.001,n=8,seed=3",
    "learning_rate=0.0001,n=4,seed=5",
    "learning_rate=0.0001,n=8,seed=5",
    "learning_rate=0.001,n=4,seed=5",
    "learning_rate=0.001,n=8,seed=5",
  ]);
  expect(planSweep({ parameters: grid, runs: 5 }, [3, 5]).runs).toEqual(runs.slice(0, 5));
});

it("names runs by whole keys where the last parts are the same, and apart where names would be", () => {
  const parameters = { "rollout.train.temperature": [1], "rollout.val.temperature": [0.5] };
  expect(planSweep({ parameters }, [0]).runs[0]!.name).toBe(
    "rollout.train.temperature=1,rollout.val.temperature=0.5,seed=0",
  );
  const names = planSweep({ parameters: { agent: ["a/b.ts", "a?b.ts"] } }, [0]).runs.map(
    ({ name }) => name,
  );
  expect(names.every((name) => /^agent=a-b\.ts-[\da-f]{6},seed=0$/u.test(name))).toBe(true);
  expect(new Set(names).size).toBe(2);
});

it("samples points at random: different ones, in their ranges, the same for the same seed", () => {
  const parameters = {
    a: { min: 1e-4, max: 1e-2, scale: "log" },
    b: { min: 1, max: 3, integer: true },
  } as const;
  const plan = (runs: number, searchSeed = 0) =>
    planSweep({ parameters, search: "random", runs, searchSeed }, [0]).points;
  const points = plan(200) as readonly { a: number; b: number }[];
  expect(new Set(points.map((point) => JSON.stringify(point))).size).toBe(200);
  for (const { a, b } of points) {
    expect(a >= 1e-4 && a <= 1e-2).toBe(true);
    expect([1, 2, 3]).toContain(b);
  }
  // Half of them below the geometric mean; 200 coins differ from 100 by 35 once in a million.
  expect(Math.abs(points.filter(({ a }) => a < 1e-3).length - 100)).toBeLessThan(35);
  expect(plan(20)).toEqual(points.slice(0, 20));
  expect(plan(20, 1)).not.toEqual(points.slice(0, 20));
  // There are only two.
  const few = { parameters: { a: [1, 2] }, search: "random", runs: 10 } as const;
  expect(planSweep(few, [0]).points).toHaveLength(2);
});

it.each([
  [{ parameters: { a: [] } }, "a has no value to try"],
  [{ parameters: { a: { min: 1, max: 2 } } }, "A grid needs a list of values of a"],
  [{ parameters: { a: { min: 2, max: 1 } } }, "a has the range from 2 to 1"],
  [{ parameters: { a: { min: 0, max: 1, scale: "log" } } }, "a has a log scale"],
  [{ parameters: { "trainer.seed": [1, 2] } }, "trainer.seed cannot be searched"],
  [{ parameters: { a: [1] }, search: "random" }, "A random search needs a number of runs"],
  [
    { parameters: Object.fromEntries([..."abcde"].map((key) => [key, Array(9).fill(0)])) },
    "10000 points",
  ],
] as const)("refuses %j", (search, message) => {
  expect(() => planSweep(search as never, [0])).toThrow(message);
});
