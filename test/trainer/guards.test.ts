import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NumericsError } from "../../src/core/errors.ts";
import { coinBackend, type CoinOptions } from "./coin-backend.ts";
import { coinTrainer, newFolder, readLines } from "./coin-run.ts";

/** Every step has something to learn, so every step has its updates. */
const always = { "algorithm.filter_uniform_groups": false };

function trainerOf(options: CoinOptions, set: Record<string, unknown>) {
  const outputDir = newFolder();
  const backend = coinBackend(options);
  const made = coinTrainer({ backend, outputDir, set: { ...always, ...set } });
  return { ...made, backend, runDir: join(outputDir, "coin") };
}

const steps = (runDir: string) => readLines(runDir, "metrics.jsonl");

function failingAt(...numbers: number[]): CoinOptions {
  let updates = 0;
  return {
    onUpdate: () => {
      if (numbers.includes(++updates)) throw new NumericsError("The loss", Number.NaN);
    },
  };
}

describe("numbers that are not finite", () => {
  it("are skipped with a warning where the run says so, and everything else goes on", async () => {
    const set = { "guards.on_non_finite": "skip" };
    const { trainer, events, backend, runDir } = trainerOf(failingAt(2), set);
    await trainer.train();
    expect(backend.updates).toHaveLength(3);
    expect(steps(runDir).map((line) => line["train/skipped_updates"])).toEqual([0, 1, 0, 0]);
    expect(steps(runDir).map((line) => line["train/skipped_steps"])).toEqual([0, 1, 0, 0]);
    expect(steps(runDir).map((line) => line["weight_version"])).toEqual([1, 1, 2, 3]);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "warning",
        message: expect.stringContaining("The loss is NaN") as string,
      }),
    );
  });

  it("end the run when too many follow each other, counted across a resume", async () => {
    const set = { "guards.on_non_finite": { type: "skip", max_updates: 2 } };
    const all = failingAt(1, 2, 3);
    const { trainer, runDir } = trainerOf(all, set);
    await expect(trainer.train()).rejects.toMatchObject({ code: "NUMERICS" });
    expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000002"]);
    const again = coinTrainer({
      backend: coinBackend(failingAt(1)),
      resume: runDir,
      outputDir: join(runDir, ".."),
      set: { ...always, ...set },
    });
    await expect(again.trainer.train()).rejects.toMatchObject({ code: "NUMERICS" });
  });
});

describe("mini-batches and passes", () => {
  it("make several updates of one step, at one learning rate, served once", async () => {
    const set = {
      "training.num_minibatches": 2,
      "training.ppo_epochs": 3,
      "training.lr_schedule": "linear",
    };
    const { trainer, backend, runDir } = trainerOf({}, set);
    await trainer.train();
    expect(backend.updates.map(({ rows }) => rows.length)).toEqual(
      Array.from({ length: 24 }, () => 4),
    );
    expect(backend.updates.slice(0, 7).map(({ optim }) => optim.learningRate)).toEqual([
      ...Array.from({ length: 6 }, () => 0.5),
      0.375,
    ]);
    const first = backend.updates.slice(0, 6).map(({ rows }) => rows);
    for (const pass of [0, 2, 4]) {
      const both = [...(first[pass] ?? []), ...(first[pass + 1] ?? [])];
      expect(new Set(both.map((row) => row.provenance.episodeId)).size).toBe(8);
    }
    expect(steps(runDir).map((line) => line["train/updates"])).toEqual([6, 6, 6, 6]);
    expect(steps(runDir).map((line) => line["weight_version"])).toEqual([1, 2, 3, 4]);
  });

  it("save nothing when a later update of a step breaks: the weights are those of no step", async () => {
    const set = { "training.num_minibatches": 2, "trainer.save_freq": 1 };
    const { trainer, runDir } = trainerOf(failingAt(4), set);
    await expect(trainer.train()).rejects.toMatchObject({ code: "NUMERICS" });
    expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000001"]);
  });
});

describe("limits on an update", () => {
  const reports = (metric: string, values: readonly number[]): CoinOptions => {
    let updates = 0;
    return { report: () => ({ [metric]: values[updates++ % values.length] as number }) };
  };

  const limits = [
    ["guards.kl", 0.1, "kl_k3", [0.05, 0.2]],
    ["guards.grad_norm", 10, "grad_norm", [1, 11]],
    ["guards.ratio", 2, "ratio_mean", [1.9, 2.1]],
    ["guards.ratio", 2, "ratio_mean", [0.6, 0.4]],
  ] as const;
  /** No checkpoint is due before the run ends. */
  const seldom = { "trainer.save_freq": 0, "trainer.total_batches": 6 };

  it.each(limits)(
    "%s=%d: an update that is refused leaves the step before it, which is saved",
    async (option, limit, metric, values) => {
      const set = { ...seldom, [option]: limit };
      const { trainer, backend, runDir } = trainerOf(
        { ...reports(metric, values), refuses: true },
        set,
      );
      await expect(trainer.train()).rejects.toMatchObject({
        code: "LIMIT_EXCEEDED",
        message: `train/${metric} is ${values[1]}, beyond ${option}=${limit}. The update was not applied; the step before it is saved.`,
      });
      expect(backend.updates).toHaveLength(1);
      expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000001"]);
      const saved = readFileSync(
        join(runDir, "checkpoints", "000001", "weights", "coin.json"),
        "utf8",
      );
      expect(JSON.parse(saved)).toMatchObject({ weight: backend.weight, updates: 1 });
      expect(steps(runDir)).toHaveLength(1);
    },
  );

  it.each(limits)(
    "%s=%d: an update that was applied ends its step, which is saved and flagged",
    async (option, limit, metric, values) => {
      const set = { ...seldom, [option]: limit };
      const { trainer, backend, runDir } = trainerOf(reports(metric, values), set);
      await expect(trainer.train()).rejects.toMatchObject({
        code: "LIMIT_EXCEEDED",
        message: `train/${metric} is ${values[1]}, beyond ${option}=${limit}. The update had been applied by then; the step ends with it and is saved.`,
      });
      expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000002"]);
      expect(steps(runDir).map((line) => line["train/limit_exceeded"])).toEqual([0, 1]);
      const saved = readFileSync(
        join(runDir, "checkpoints", "000002", "weights", "coin.json"),
        "utf8",
      );
      expect(JSON.parse(saved)).toMatchObject({ weight: backend.weight, updates: 2 });
    },
  );

  it("a refused update in the middle of a step leaves the updates before it", async () => {
    const set = { ...seldom, "guards.kl": 0.1, "training.ppo_epochs": 4 };
    const options = { ...reports("kl_k3", [0.01, 0.02, 0.2]), refuses: true };
    const { trainer, backend, runDir } = trainerOf(options, set);
    await expect(trainer.train()).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: expect.stringContaining("the step ends with the updates before it") as string,
    });
    expect(backend.updates).toHaveLength(2);
    expect(steps(runDir)).toEqual([
      expect.objectContaining({ step: 1, "train/updates": 2, "train/limit_exceeded": 1 }),
    ]);
    expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000001"]);
  });

  it.each([true, false])(
    "what the error advises works: resumed with a lower rate (refused before: %s)",
    async (refuses) => {
      const set = { ...seldom, "guards.kl": 0.1 };
      const options = { ...reports("kl_k3", [0.05, 0.05, 0.2]), refuses };
      const { trainer, runDir } = trainerOf(options, set);
      await expect(trainer.train()).rejects.toMatchObject({
        hint: expect.stringContaining("then resume") as string,
      });
      const again = coinTrainer({
        resume: runDir,
        outputDir: join(runDir, ".."),
        set: { ...always, ...set, "training.learning_rate": 0.1 },
      });
      expect(await again.trainer.train()).toMatchObject({ status: "completed", steps: 6 });
      expect(steps(runDir).map((line) => line["step"])).toEqual([1, 2, 3, 4, 5, 6]);
      expect(steps(runDir).map((line) => line["progress/lr"])).toEqual(
        refuses ? [0.5, 0.5, 0.1, 0.1, 0.1, 0.1] : [0.5, 0.5, 0.5, 0.1, 0.1, 0.1],
      );
    },
  );

  it("leave out the rest of a step, or only warn", async () => {
    const set = { "guards.kl": 0.1, "training.ppo_epochs": 4 };
    const values = [0.01, 0.2, 0.01, 0.01];
    const ended = trainerOf(reports("kl_k3", values), { ...set, "guards.action": "end_step" });
    await ended.trainer.train();
    expect(steps(ended.runDir)[0]).toMatchObject({ "train/updates": 2, "train/limit_exceeded": 1 });
    const warned = trainerOf(reports("kl_k3", values), { ...set, "guards.action": "warn" });
    await warned.trainer.train();
    expect(steps(warned.runDir)[0]).toMatchObject({
      "train/updates": 4,
      "train/limit_exceeded": 1,
    });
    expect(warned.events.filter(({ type }) => type === "warning").length).toBeGreaterThan(0);
  });
});
