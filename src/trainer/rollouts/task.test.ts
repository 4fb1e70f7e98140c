import { describe, expect, it } from "vitest";
import { readDataset, toTask } from "./task.ts";

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

describe("readDataset", () => {
  it("reads iterables and async iterables", async () => {
    async function* rows() {
      yield { question: "a" };
      yield { question: "b" };
    }
    const expected = ["0", "1"];
    expect((await readDataset(rows(), "data")).map((task) => task.id)).toEqual(expected);
    const set = new Set([{ question: "a" }, { question: "b" }]);
    expect((await readDataset(set, "data")).map((task) => task.id)).toEqual(expected);
  });
  it("refuses the same id twice, naming both rows", async () => {
    const rows = [{ id: "x", question: "a" }, { question: "b" }, { id: "x", question: "c" }];
    await expect(readDataset(rows, "training data")).rejects.toThrow(
      'row 3 of the training data: the id "x" is already that of row 1 of the training data',
    );
  });
  it("refuses an index that collides with an id", async () => {
    const rows = [{ id: "1", question: "a" }, { question: "b" }];
    await expect(readDataset(rows, "data")).rejects.toThrow('the id "1"');
  });
  it("refuses what the run folder cannot hold, and takes functions and objects of classes", async () => {
    const cycle: Record<string, unknown> = { question: "a" };
    cycle["self"] = cycle;
    await expect(readDataset([cycle], "data")).rejects.toThrow(
      "row 1 of the data: the row holds a cycle, which cannot be written to the run folder.",
    );
    await expect(readDataset([{ question: "a", n: 1n }], "data")).rejects.toThrow("holds a BigInt");
    const live = { question: "a", grade: () => 1, at: new URL("http://localhost") };
    const [task] = await readDataset([live], "data");
    expect(task?.metadata).toBe(live);
  });
  it("refuses an empty data set", async () => {
    await expect(readDataset([], "validation data")).rejects.toThrow("validation data has no rows");
  });
});
