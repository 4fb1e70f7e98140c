/** Early stopping on the validation's metric, and the best checkpoint, with the coin policy. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  isBetter,
  fineTuningGoal,
  type ValidationGoal,
  waitOn,
  whyStop,
} from "../../src/runs/validation-goal.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Patience } from "../../src/runs/checkpoint.ts";
import { coinTasks, coinTrainer, newFolder } from "./coin-run.ts";

const goal: ValidationGoal = {
  metric: "val/reward/mean",
  isLowerBetter: false,
  patience: 2,
  patienceOption: "trainer.early_stopping_patience",
  minDelta: 0.1,
};

it("waits for validations in a row that are not better by the least difference", () => {
  const values = [0.2, 0.4, 0.45, 0.55, 0.6, undefined, 0.7];
  const waited: (number | undefined)[] = [];
  let patience: Patience | null = null;
  for (const value of values) {
    patience = waitOn(patience, value, goal);
    waited.push(patience?.waited);
  }
  // 0.45 is 0.05 above 0.4, but 0.55 is 0.15 above it.
  expect(waited).toEqual([0, 0, 1, 0, 1, 2, 0]);
  expect(whyStop({ value: 0.55, waited: 1 }, 5, goal)).toBeNull();
  expect(whyStop({ value: 0.55, waited: 2 }, 5, goal)).toContain("after step 5");
  const off = { ...goal, patience: 0 };
  expect(whyStop({ value: 0.55, waited: 99 }, 5, off)).toBeNull();
});

it("is the same for losses, of which the lower is better", () => {
  const { config } = loadConfig({
    overrides: ["model.name=m", "trainer.early_stopping_patience=3"],
  });
  const usual = fineTuningGoal(config);
  expect(usual).toMatchObject({ metric: "val/loss", patience: 3 });
  const own = fineTuningGoal({ ...config, fineTuning: { ...config.fineTuning, patience: 1 } });
  expect(isBetter({ "val/loss": 1 }, own, { step: 0, value: 2 })).toBe(true);
  expect(isBetter({ "val/loss": 2 }, own, { step: 0, value: 2 })).toBe(false);
  const wait = waitOn({ value: 2, waited: 0 }, 2, own);
  expect(wait).toEqual({ value: 2, waited: 1 });
  expect(waitOn(wait, 1.5, own)).toEqual({ value: 1.5, waited: 0 });
  expect(whyStop(wait, 4, own)).toContain("(fine_tuning.patience=1)");
  expect(whyStop(wait, 4, usual)).toBeNull();
});

const set = {
  "trainer.total_batches": 12,
  "trainer.test_freq": 1,
  "trainer.save_freq": 1,
  "trainer.keep_checkpoints": 1,
  "trainer.early_stopping_patience": 3,
  // Nothing is learned, so no validation is better than the first.
  "training.learning_rate": 0,
  "rollout.val.temperature": 0,
};

it("stops a run whose validations do not get better, and a resumed one at the same step", async () => {
  const outputDir = newFolder();
  const whole = coinTrainer({ outputDir, set, valDataset: coinTasks });
  const result = await whole.trainer.train();
  expect(result.steps).toBe(3);
  expect(result.best).toMatchObject({ step: 0 });
  const stops = whole.events.filter(
    (event) => event.type === "warning" && event.message.startsWith("Stopped early after step 3"),
  );
  expect(stops).toHaveLength(1);

  // Interrupted after step 2, then resumed: the count goes on where it was.
  const controller = new AbortController();
  const other = newFolder();
  const cut = coinTrainer({
    outputDir: other,
    set,
    valDataset: coinTasks,
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type === "step-end" && event.step === 2) controller.abort();
    },
  });
  expect((await cut.trainer.train()).status).toBe("interrupted");
  const again = coinTrainer({ outputDir: other, set, valDataset: coinTasks, resume: "auto" });
  expect((await again.trainer.train()).steps).toBe(3);
  // And a run that has stopped does not begin again.
  const after = coinTrainer({ outputDir: other, set, valDataset: coinTasks, resume: "auto" });
  expect((await after.trainer.train()).steps).toBe(3);
});

it("resumes from the checkpoint that is named, and puts later ones aside", async () => {
  const outputDir = newFolder();
  const learning = {
    "trainer.total_batches": 4,
    "trainer.save_freq": 1,
    "trainer.keep_checkpoints": 9,
  };
  const first = await coinTrainer({ outputDir, set: learning }).trainer.train();
  const { trainer, events } = coinTrainer({
    outputDir,
    set: learning,
    resume: join(first.runDir, "checkpoints/000002"),
  });
  const second = await trainer.train();
  expect(second.steps).toBe(4);
  const steps = events.filter(({ type }) => type === "step-end").map(({ step }) => step);
  expect(steps).toEqual([3, 4]);
  const start = events.find(({ type }) => type === "run-start");
  expect(start).toMatchObject({ resumedFrom: join(first.runDir, "checkpoints/000002") });
  expect(existsSync(join(first.runDir, "checkpoints/.replaced-000004"))).toBe(true);
  const nothing = coinTrainer({ outputDir, set: learning, resume: join(first.runDir, "best") });
  await expect(nothing.trainer.train()).rejects.toThrow("has no best checkpoint");
});
