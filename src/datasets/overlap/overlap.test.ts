import { describe, expect, it } from "vitest";
import type { Task } from "../../core/task.ts";
import { findDuplicates, findLeaks, withoutDuplicates } from "./overlap.ts";

const tasks = (...instructions: readonly string[]): Task[] =>
  instructions.map((instruction, i) => ({ id: `t${i}`, instruction, metadata: { id: i } }));

describe("findDuplicates", () => {
  it.each<[string, string, string, boolean]>([
    ["case and white space", "What  is\n2 + 2?", "what is 2 + 2?", true],
    ["full-width letters", "Ａｄｄ 2", "add 2", true],
    ["another operator", "What is 2 + 2?", "What is 2 - 2?", false],
    ["another number", "A train leaves at 3", "A train leaves at 4", false],
    ["one more word", "Sort this list", "Sort this list now", false],
    ["nothing but marks", "???", "???", true],
  ])("compares texts: %s", (_, a, b, isSame) => {
    expect(findDuplicates(tasks(a, b))).toEqual(isSame ? [{ index: 1, other: 0 }] : []);
  });

  it("keeps the first of several", () => {
    const all = tasks("a", "b", "A", "a ", "c");
    const left = withoutDuplicates(all, findDuplicates(all));
    expect(Array.from(left, ({ id }) => id)).toEqual(["t0", "t1", "t4"]);
  });

  it("compares whole rows where tasks share their instruction", () => {
    const rows = ["x", "y", "x", "z"].map((board, i) => ({
      id: `t${i}`,
      instruction: "Solve the puzzle.",
      metadata: { id: i, board },
    }));
    expect(findDuplicates(rows)).toEqual([{ index: 2, other: 0 }]);
  });
});

describe("findLeaks", () => {
  it("names the first training task of each validation task", () => {
    const train = tasks("one apple", "four figs", "two pears", "TWO pears");
    const val = tasks("Two  pears", "five figs", "three plums", "two pears");
    const found = findLeaks(train, val).map(({ val: a, train: b }) => [a.id, b.id]);
    expect(found).toEqual([
      ["t0", "t2"],
      ["t3", "t2"],
    ]);
  });
});
