import { describe, expect, it } from "vitest";
import type { DatasetInput } from "../datasets/tasks/task.ts";
import { loadNamed } from "./load-dataset.ts";

const read = (rows: DatasetInput<unknown>, name: string): ReturnType<typeof loadNamed> =>
  loadNamed(rows, { name });

describe("rows that code passes", () => {
  it("reads iterables and async iterables", async () => {
    async function* rows() {
      yield { question: "a" };
      yield { question: "b" };
    }
    const expected = ["0", "1"];
    expect(Array.from(await read(rows(), "data"), (task) => task.id)).toEqual(expected);
    const set = new Set([{ question: "a" }, { question: "b" }]);
    expect(Array.from(await read(set, "data"), (task) => task.id)).toEqual(expected);
  });
  it("refuses the same id twice, naming both rows", async () => {
    const rows = [{ id: "x", question: "a" }, { question: "b" }, { id: "x", question: "c" }];
    await expect(read(rows, "training data")).rejects.toThrow(
      'row 3 of the training data: the id "x" is already that of row 1 of the training data',
    );
  });
  it("refuses an index that collides with an id", async () => {
    const rows = [{ id: "1", question: "a" }, { question: "b" }];
    await expect(read(rows, "data")).rejects.toThrow('the id "1"');
  });
  it("refuses what the run folder cannot hold, and takes functions and objects of classes", async () => {
    const cycle: Record<string, unknown> = { question: "a" };
    cycle["self"] = cycle;
    await expect(read([cycle], "data")).rejects.toThrow(
      "row 1 of the data: the row holds a cycle, which cannot be written to the run folder.",
    );
    await expect(read([{ question: "a", n: 1n }], "data")).rejects.toThrow("holds a BigInt");
    const live = { question: "a", grade: () => 1, at: new URL("http://localhost") };
    const tasks = await read([live], "data");
    expect(tasks.at(0)?.metadata).toBe(live);
  });
  it("refuses an empty data set", async () => {
    await expect(read([], "validation data")).rejects.toThrow("validation data has no rows");
  });
});
