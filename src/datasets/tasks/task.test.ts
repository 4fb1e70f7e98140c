import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sharedCases } from "../../../test/shared-cases.ts";
import { toTask } from "./task.ts";

describe("toTask", () => {
  it("takes a task as it is", () => {
    const task = { id: "a", instruction: "do", metadata: { answer: 1 } };
    expect(toTask(task, 0)).toBe(task);
  });
  it("prefers id over task_id over the index, and instruction over question", () => {
    const row = { id: 7, task_id: "t", instruction: "i", question: "q", answer: 4 };
    expect(toTask(row, 3)).toEqual({ id: "7", instruction: "i", metadata: row });
    expect(toTask({ task_id: "t", question: "q" }, 3)).toMatchObject({ id: "t", instruction: "q" });
    expect(toTask({ question: "q" }, 3)).toMatchObject({ id: "3" });
  });
  it("takes a null for an absent field, as columns of tables have them", () => {
    const row = { question: "a", instruction: null, id: null, task_id: null, answer: "1" };
    expect(toTask(row, 3)).toEqual({ id: "3", instruction: "a", metadata: row });
    expect(toTask({ ...row, task_id: 5 }, 3)).toMatchObject({ id: "5" });
    expect(toTask({ ...row, instruction: "b" }, 3)).toMatchObject({ instruction: "b" });
    expect(() => toTask({ ...row, question: null }, 3)).toThrow(/neither "instruction" nor/u);
    expect(toTask({ id: "a", instruction: "b", metadata: null }, 0).metadata).toHaveProperty("id");
  });
  const shared = sharedCases("training/null-columns.jsonl");
  it.skipIf(shared === null)("reads null-columns.jsonl of the shared cases", () => {
    const rows = readFileSync(shared!, "utf8").trim().split("\n");
    const tasks = rows.map((row, i) => toTask(JSON.parse(row), i));
    expect(tasks).toMatchObject([{ id: "0", instruction: "a", metadata: { answer: "1" } }]);
  });
  it.each([
    ["text", "a row must be a map"],
    [null, "a row must be a map"],
    [{ id: 1.5, question: "q" }, '"id" must be a string or an integer; got 1.5'],
    [{ id: "", question: "q" }, '"id" must be a string or an integer; got ""'],
    [{ id: 1 }, 'neither "instruction" nor "question"'],
    [{ instruction: 3, question: "q" }, '"instruction" must be a string; got 3'],
  ])("refuses %j", (row, message) => {
    expect(() => toTask(row, 4)).toThrow(`row 5: `);
    expect(() => toTask(row, 4)).toThrow(message);
  });
});
