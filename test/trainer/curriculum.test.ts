import { describe, expect, it } from "vitest";
import type { Task } from "../../src/core/task.ts";
import { coinTasks, coinTrainer, readLines } from "./coin-run.ts";

describe("a curriculum", () => {
  const graded: readonly Task[] = coinTasks.map((task, i) => ({
    ...task,
    metadata: { difficulty: 5 - i },
  }));
  const set = { "data.train_batch_size": 1, "trainer.total_batches": 5 };
  const order = async (curriculum: string): Promise<unknown[]> => {
    const { trainer } = coinTrainer({
      trainDataset: graded,
      set: { ...set, "data.curriculum": curriculum },
    });
    const { runDir } = await trainer.train();
    return [1, 2, 3, 4, 5].map((step) => {
      const [line] = readLines(runDir, "episodes", `00000${step}.jsonl`);
      return (line as unknown as { task: Task }).task.id;
    });
  };

  it("orders tasks by their difficulty", async () => {
    const easiestFirst = ["task-4", "task-3", "task-2", "task-1", "task-0"];
    expect(await order("easy_first")).toEqual(easiestFirst);
    expect(await order("hard_first")).toEqual(easiestFirst.toReversed());
  });

  it("names the task that has none", async () => {
    const { trainer } = coinTrainer({ set: { "data.curriculum": "easy_first" } });
    await expect(trainer.train()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining('that of task "task-0" is missing') as string,
    });
  });
});
