import { expect, it } from "vitest";
import type { TaskCell } from "./index/query.ts";
import { outcomeOf, taskMap } from "./task-map.ts";

const options = {
  phase: "validation",
  phases: ["validation", "train"],
  questions: (numbers: readonly number[]) => new Map(numbers.map((n) => [n, `Question ${n}?`])),
} as const;

let n = 0;
const cell = (task: string, step: number, reward: number | null, rollouts = 1): TaskCell => ({
  task,
  step,
  reward,
  rollouts,
  n: ++n,
});

it("measures a gain by an eighth of the visits at either end, one to three", () => {
  expect(outcomeOf([0.2, 0.4, 0.6, 0.8, 0.9], 0.5)).toMatchObject({ first: 0.2, last: 0.9 });
  expect(outcomeOf([0.2, 0.4, 0.6, 0.8, 0.9], 0.5).gain).toBeCloseTo(0.7, 12);
  // Two of sixteen: (0 + 0.2) / 2 and (0.8 + 1) / 2.
  const sixteen = outcomeOf([0, 0.2, ...Array<number>(12).fill(0.5), 0.8, 1], 0.5);
  expect(sixteen.gain).toBeCloseTo(0.8, 12);
  // Three of forty: (0 + 0 + 0.3) / 3 = 0.1 and (0.9 + 1 + 0.8) / 3 = 0.9.
  const forty = outcomeOf([0, 0, 0.3, ...Array<number>(34).fill(0.5), 0.9, 1, 0.8], 0.5);
  expect(forty.gain).toBeCloseTo(0.8, 12);
  expect(outcomeOf([0.7], 0.5)).toEqual({
    ...{ first: 0.7, last: 0.7, gain: null, fate: "always", learnedFrom: null },
  });
  expect(outcomeOf([], 0.5)).toMatchObject({ first: null, gain: null, fate: "never" });
});

it("says when a task was learned: three quarters of what follows is solved", () => {
  expect(outcomeOf([0, 0, 1, 1, 1, 1], 0.5)).toMatchObject({ fate: "learned", learnedFrom: 2 });
  // Also where all but the first of many visits is solved.
  const early = [0, 1, 1, 1, 1, 1, 1, 1, 1];
  expect(outcomeOf(early, 0.5)).toMatchObject({ fate: "learned", learnedFrom: 1, gain: 1 });
  // From index 1 on: 1 0 1 1, three of four.
  expect(outcomeOf([0, 1, 0, 1, 1], 0.5)).toMatchObject({ fate: "learned", learnedFrom: 1 });
  // From index 1 on: 1 0 0 1 1, three of five.
  expect(outcomeOf([0, 1, 0, 0, 1, 1], 0.5)).toMatchObject({ fate: "learned", learnedFrom: 4 });
  // From the first on: 1 0 1 1, three of four.
  expect(outcomeOf([1, 0, 1, 1], 0.5)).toMatchObject({ fate: "always", learnedFrom: null });
  expect(outcomeOf([1, 1, 0, 0], 0.5)).toMatchObject({ fate: "lost", learnedFrom: null });
  // The middle itself is not solved.
  expect(outcomeOf([0.5, 0.5], 0.5)).toMatchObject({ fate: "never" });
});

it("lays tasks out by step, largest gain first, with the mean of each column", () => {
  n = 0;
  const map = taskMap(
    [
      cell("a", 0, 0),
      cell("a", 10, 1),
      cell("b", 0, 0.5),
      cell("b", 10, 0),
      cell("c", 10, null, 4),
    ],
    options,
  );
  expect(map).toMatchObject({ columns: [0, 10], stepsPerColumn: 1, low: 0, high: 1, tasks: 3 });
  expect(map.rows.map(({ task, gain, fate }) => [task, gain, fate])).toEqual([
    ["a", 1, "learned"],
    ["b", -0.5, "never"],
    ["c", null, "never"],
  ]);
  expect(map.rows[0]).toMatchObject({ question: "Question 1?", learnedAt: 10 });
  expect(map.mean).toEqual([0.25, 0.5]);
  expect(map.fates).toEqual({ learned: 1, always: 0, never: 2, lost: 0 });
});

it("shares a column between the steps of a pass over the tasks, weighted by rollouts", () => {
  // Four tasks, one in each step: four steps see all of them.
  const cells = Array.from({ length: 4 }, (_, task) =>
    Array.from({ length: 16 }, (_empty, pass) =>
      cell(`${task}`, 1 + task + 4 * pass, pass / 15, 2),
    ),
  ).flat();
  const map = taskMap(cells, options);
  expect(map).toMatchObject({ stepsPerColumn: 4, tasks: 4, lastStep: 64 });
  expect(map.columns.slice(0, 3)).toEqual([1, 5, 9]);
  expect(map.rows.every((row) => row.cells.length === 16)).toBe(true);
  // At most half of the 16 steps of one task would be left: 8 columns.
  const two = taskMap(
    [
      cell("x", 1, 0, 1),
      cell("x", 2, 1, 3),
      ...Array.from({ length: 478 }, (_, i) => cell("x", i + 3, 1)),
    ],
    options,
  );
  expect(two.stepsPerColumn).toBe(2);
  expect(two.rows[0]!.cells[0]).toMatchObject({ column: 0, reward: 0.75, rollouts: 4 });
});

it("keeps no more than 500 rows, and counts all", () => {
  const cells = Array.from({ length: 700 }, (_, i) => [
    cell(`${i}`, 0, 0),
    cell(`${i}`, 1, i / 700),
  ]).flat();
  const map = taskMap(cells, options);
  expect([map.rows.length, map.tasks]).toEqual([500, 700]);
  expect(map.rows[0]!.task).toBe("699");
});

it("is empty without episodes", () => {
  expect(taskMap([], options)).toMatchObject({ columns: [], rows: [], tasks: 0, mean: [] });
});
