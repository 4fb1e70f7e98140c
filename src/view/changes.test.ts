import { expect, it } from "vitest";
import { runChanges } from "./changes.ts";
import type { TaskCell } from "./index/query.ts";

const cell = (task: string, step: number, reward: number | null, n: number): TaskCell => ({
  task,
  step,
  reward,
  rollouts: 1,
  n,
});
const questions = (numbers: readonly number[]) => new Map(numbers.map((n) => [n, `q${n}`]));

it("compares the first and the last attempt at each task, largest change first", () => {
  const found = runChanges(
    [
      cell("better", 0, 0.2, 1),
      cell("better", 5, 0.4, 2),
      cell("better", 10, 0.7, 3),
      cell("once", 10, 1, 4),
      cell("same", 0, 1, 5),
      cell("same", 10, 1, 6),
      cell("unscored", 0, null, 7),
      cell("unscored", 10, 1, 8),
      cell("worse", 0, 1, 9),
      cell("worse", 10, 0, 10),
    ],
    "validation",
    questions,
  );
  expect(found).toMatchObject({ better: 1, worse: 1, same: 1, fromStep: 0, toStep: 10 });
  expect(found!.tasks.map(({ task }) => task)).toEqual(["worse", "better", "same"]);
  expect(found!.tasks[1]).toEqual({
    task: "better",
    question: "q1",
    before: { n: 1, reward: 0.2 },
    now: { n: 3, reward: 0.7 },
  });
});

it("says nothing where no task was tried twice", () => {
  expect(runChanges([cell("a", 0, 1, 1)], "train", questions)).toBeNull();
  expect(runChanges([], "train", questions)).toBeNull();
});
