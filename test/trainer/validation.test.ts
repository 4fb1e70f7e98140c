import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Task } from "../../src/core/task.ts";
import { coinBackend } from "./coin-backend.ts";
import { coinTasks, coinTrainer, newFolder } from "./coin-run.ts";

const sourced: readonly Task[] = coinTasks.slice(0, 4).map((task, i) => ({
  ...task,
  metadata: i === 3 ? {} : { data_source: i < 2 ? "easy" : "hard/set" },
}));

describe("a validation", () => {
  it("W45: gives unbiased pass@k for every k, of all tasks and of each source", async () => {
    const right: Record<string, number> = { "task-0": 4, "task-1": 1, "task-2": 0, "task-3": 2 };
    const seen = new Map<string, number>();
    const { trainer } = coinTrainer({
      valDataset: sourced,
      evaluator: (task) => {
        const count = seen.get(task.id) ?? 0;
        seen.set(task.id, count + 1);
        return count < (right[task.id] ?? 0) ? 1 : 0;
      },
      set: { "trainer.val_only": true, "rollout.n_val": 4 },
    });
    const { validation, steps } = await trainer.train();
    expect(steps).toBe(0);
    // Of n = 4 with 4, 1, 0 and 2 right: 1 - C(n - c, k) / C(n, k) by hand.
    expect(validation).toMatchObject({
      "val/pass@1": (1 + 1 / 4 + 0 + 1 / 2) / 4,
      "val/pass@2": expect.closeTo((1 + 1 / 2 + 0 + 5 / 6) / 4, 12) as number,
      "val/pass@3": (1 + 3 / 4 + 0 + 1) / 4,
      "val/pass@4": 3 / 4,
      "val/easy/pass@1": 5 / 8,
      "val/easy/pass@4": 1,
      "val/easy/reward/mean": 5 / 8,
      "val/easy/episodes": 8,
      "val/hard/set/pass@1": 0,
      "val/hard/set/pass@4": 0,
      "val/episodes": 16,
    });
    expect(Object.keys(validation ?? {})).not.toContain("val/pass@5");
  });

  it("W7: alone validates once, whatever val_before_train says, and trains nothing", async () => {
    const backend = coinBackend();
    const { trainer, events } = coinTrainer({
      backend,
      valDataset: coinTasks,
      set: { "trainer.val_only": true, "trainer.val_before_train": false },
    });
    const result = await trainer.train();
    expect(result).toMatchObject({ status: "completed", steps: 0, checkpoint: null });
    expect(events.filter(({ type }) => type === "validation-end")).toHaveLength(1);
    expect(backend.updates).toEqual([]);
  });
});

describe("the best step", () => {
  /** Rewards of the validations after steps 0, 2, 4 ... */
  function run(values: readonly number[], set: Record<string, unknown> = {}) {
    const outputDir = newFolder();
    let validations = -1;
    const backend = coinBackend();
    const made = coinTrainer({
      outputDir,
      backend,
      valDataset: coinTasks.slice(0, 1),
      evaluator: (_task, episode) =>
        episode.id.startsWith("val-")
          ? (values[validations] ?? 0)
          : Number(episode.output === "yes"),
      hooks: {
        setUp: (_task, info) => {
          if (info.isValidation) validations++;
        },
      },
      set: {
        "trainer.total_batches": 10,
        "trainer.test_freq": 2,
        "trainer.save_freq": 2,
        "trainer.keep_checkpoints": 2,
        "trainer.keep_best": true,
        ...set,
      },
    });
    return { ...made, checkpoints: join(outputDir, "coin", "checkpoints"), outputDir };
  }

  it("is kept beside the newest ones, however old it gets", async () => {
    const { trainer, checkpoints } = run([0.1, 0.2, 0.9, 0.3, 0.9, 0.4]);
    const result = await trainer.train();
    expect(result.best).toEqual({ step: 4, value: 0.9 });
    expect(readdirSync(checkpoints)).toEqual(["000004", "000008", "000010"]);
  });

  it("is saved when it comes, also where no checkpoint is due", async () => {
    const { trainer, checkpoints } = run([0.1, 0.2, 0.9, 0.3, 0.5, 0.4], {
      "trainer.save_freq": 0,
      "trainer.keep_checkpoints": 1,
    });
    await trainer.train();
    expect(readdirSync(checkpoints)).toEqual(["000004", "000010"]);
  });

  it("is remembered across a resume", async () => {
    const first = run([0.1, 0.2, 0.9]);
    const controller = new AbortController();
    const stopped = coinTrainer({
      ...{ outputDir: first.outputDir, signal: controller.signal },
      valDataset: coinTasks.slice(0, 1),
      onEvent: (event) => {
        if (event.type === "step-end" && event.step === 5) controller.abort();
      },
      evaluator: (_task, { id, output }) =>
        id.startsWith("val-4") ? 0.9 : id.startsWith("val") ? 0.1 : Number(output === "yes"),
      set: {
        "trainer.total_batches": 10,
        "trainer.test_freq": 2,
        "trainer.save_freq": 2,
        "trainer.keep_checkpoints": 2,
        "trainer.keep_best": true,
      },
    });
    expect((await stopped.trainer.train()).best).toEqual({ step: 4, value: 0.9 });
    const resumed = coinTrainer({
      ...{ outputDir: first.outputDir, resume: "auto" as const },
      valDataset: coinTasks.slice(0, 1),
      evaluator: (_task, { id, output }) => (id.startsWith("val") ? 0.5 : Number(output === "yes")),
      set: {
        "trainer.total_batches": 10,
        "trainer.test_freq": 2,
        "trainer.save_freq": 2,
        "trainer.keep_checkpoints": 2,
        "trainer.keep_best": true,
      },
    });
    expect((await resumed.trainer.train()).best).toEqual({ step: 4, value: 0.9 });
    expect(readdirSync(first.checkpoints)).toEqual(["000004", "000008", "000010"]);
  });

  it("needs a metric that validations have", async () => {
    const { trainer } = run([1], { "trainer.best_metric": "val/pass@9" });
    await expect(trainer.train()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("Did you mean val/pass@1?") as string,
    });
  });

  it("by a pass rate needs somebody who says what is right", async () => {
    const set = { "trainer.best_metric": "val/pass@1" };
    await expect(run([0.1], set).trainer.train()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      hint: expect.stringContaining("rollout.solved_reward") as string,
    });
    const solved = run([0.1, 0.9, 0.2], { ...set, "rollout.solved_reward": 0.5 });
    expect((await solved.trainer.train()).best).toEqual({ step: 2, value: 1 });
    // Once it was there, a validation that nobody judged is only not the best.
    expect((await run([1, 0.5], set).trainer.train()).best).toEqual({ step: 0, value: 1 });
  });

  it("is not that of survivors: rollouts that an evaluator choked on count", async () => {
    const { trainer } = coinTrainer({
      valDataset: coinTasks,
      evaluator: (_task, { output }) => {
        if (output !== "yes") throw new Error("cannot read that");
        return true;
      },
      set: {
        "trainer.max_failed_fraction": 1,
        "trainer.total_batches": 1,
        "rollout.n_val": 8,
        "rollout.failure_reward": -1,
      },
    });
    const { validation } = await trainer.train();
    const failed = Number(validation?.["val/failed"]);
    expect(failed).toBeGreaterThan(5);
    expect(validation?.["val/reward/mean"]).toBeCloseTo(1 - (2 * failed) / 40, 12);
    expect(validation?.["val/pass@1"]).toBeCloseTo(1 - failed / 40, 12);
  });
});
