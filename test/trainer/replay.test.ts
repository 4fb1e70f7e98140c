import { describe, expect, it } from "vitest";
import type { Task } from "../../src/core/task.ts";
import { coinBackend } from "./coin-backend.ts";
import {
  coinTasks,
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";

const numbers = (runDir: string) => readLines(runDir, "metrics.jsonl").map(withoutClock);

describe("replay", () => {
  const shared: CoinTrainerOptions = {
    // Every task is partly solved.
    evaluator: (_task, episode) => episode.rolloutIndex % 2,
    set: { "replay.tasks": 1, "replay.max_age": 2, "trainer.total_batches": 6 },
  };

  it("adds tasks of the last steps, with the log-probabilities that they were drawn with", async () => {
    const backend = coinBackend();
    const { runDir } = await coinTrainer({ ...shared, backend }).trainer.train();
    const sizes = backend.updates.map(({ rows }) => rows.length);
    expect(sizes).toEqual([8, 12, 12, 12, 12, 12]);
    const own = new Map(
      backend.updates.flatMap(({ rows }, i) =>
        rows.slice(0, 8).map((row) => [row.provenance.episodeId, { row, step: i + 1 }] as const),
      ),
    );
    for (const [i, { rows }] of backend.updates.entries()) {
      for (const row of rows.slice(8)) {
        const first = own.get(row.provenance.episodeId);
        expect(first).toBeDefined();
        expect(row.samplingLogprobs).toEqual(first?.row.samplingLogprobs);
        const age = i + 1 - (first?.step ?? 0);
        expect(age).toBeGreaterThanOrEqual(1);
        expect(age).toBeLessThanOrEqual(2);
      }
    }
    expect(numbers(runDir).map((line) => line["replay/used_tasks"])).toEqual([0, 1, 1, 1, 1, 1]);
    // Two tasks of this step and two of the one before are young enough for the next one.
    expect(numbers(runDir).at(-1)).toMatchObject({ "replay/kept_tasks": 4 });
  });

  it("goes on after an interrupt as if there had been none", async () => {
    const expected = coinBackend();
    const whole = await coinTrainer({ ...shared, backend: expected }).trainer.train();
    const outputDir = newFolder();
    const controller = new AbortController();
    const first = coinTrainer({
      ...shared,
      outputDir,
      signal: controller.signal,
      onEvent: ({ type, step }) => {
        if (type === "step-end" && step === 3) controller.abort();
      },
    });
    await first.trainer.train();
    const backend = coinBackend();
    const second = coinTrainer({ ...shared, outputDir, backend, resume: "auto" });
    const { runDir } = await second.trainer.train();
    expect(numbers(runDir)).toEqual(numbers(whole.runDir));
    expect(backend.weight).toBe(expected.weight);
  });

  it("is refused beside overlapped rollouts", () => {
    const set = { "replay.tasks": 1, "async_training.enable": true };
    expect(() => coinTrainer({ set })).toThrow("replay.tasks would exceed the staleness bound");
  });
});

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
