/** Rewards of an agent, measured while a model learns from examples. */
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { TrainerEvent } from "../../src/core/events.ts";
import { fineTune, type FineTuneOptions } from "../../src/launch/finetune/fine-tune.ts";
import { readRun } from "../../src/runs/run-summary.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import {
  coinAgent,
  coinEvaluator,
  coinTasks,
  readLines,
  withoutClock,
} from "../trainer/coin-run.ts";
import { fakeBackend } from "./fake-backend.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "fine-tune-"));
const rows = Array.from({ length: 6 }, (_, i) => ({ prompt: `Q${i}`, completion: "yes" }));
const valDataset = Array.from({ length: 16 }, (_, i) => ({ ...coinTasks[0]!, id: `${i}` }));
const rewards = { agentFlow: coinAgent, evaluator: coinEvaluator, valDataset };

/** Learns to say "yes" from the examples. */
const learner = () => coinBackend({ onForward: () => {} });

function run(set: Record<string, object> = {}, rest: Partial<FineTuneOptions> = {}) {
  const { trainer, ...others } = set;
  return fineTune({
    backend: learner(),
    config: {
      model: { name: "coin" },
      data: { trainBatchSize: 2 },
      training: { learningRate: 0.3 },
      ...others,
      trainer: {
        ...{ totalBatches: 6, testFreq: 2, saveFreq: 1, keepBest: true },
        ...{ outputDir: newFolder(), experimentName: "coin" },
        ...trainer,
      },
    },
    train: rows,
    rewards,
    ...rest,
  });
}

const validationsOf = (folder: string) =>
  readLines(folder, "metrics.jsonl")
    .filter(({ phase }) => phase === "validation")
    .map(withoutClock)
    // A resume serves its weights as another version.
    .map((line) => ({ ...line, "val/episode/weight_version": 0 })) as Record<string, number>[];

it("measures rewards next to the loss, of the weights of the step", async () => {
  const result = await run({}, { val: rows.slice(0, 2) });
  const validations = validationsOf(result.runDir);
  expect(validations.map(({ step }) => step)).toEqual([0, 2, 4, 6]);
  for (const line of validations) expect(line["val/loss"]).toBeGreaterThan(0);
  const means = validations.map((line) => line["val/reward/mean"]!);
  expect(means[0]).toBeLessThan(0.9);
  expect(means.at(-1)).toBe(1);
  expect(result.best!.value).toBe(1);
  // The best of several equal ones is the first.
  expect(result.best!.step).toBe(2 * means.indexOf(1));
  const { bestValidation } = await readRun(result.runDir);
  expect(bestValidation).toEqual({ ...result.best, metric: "val/reward/mean" });
  const episodes = readdirSync(join(result.runDir, "episodes"));
  expect(episodes.filter((name) => name.startsWith("val-"))).toHaveLength(4);
});

it("stops early by rewards, or by the loss where that is the best metric", async () => {
  const trainer = { testFreq: 1, earlyStoppingPatience: 2 };
  const always = () => fakeBackend([3, 2, 1, 0.5, 0.4, 0.3, 0.2]);
  const byReward = await run({ trainer }, { backend: always(), val: rows.slice(0, 2) });
  // Every answer is "yes" from the beginning.
  expect(byReward).toMatchObject({ stoppedEarly: true, steps: 2, best: { step: 0, value: 1 } });
  const bestMetric = { ...trainer, bestMetric: "val/loss" };
  const byLoss = await run({ trainer: bestMetric }, { backend: always(), val: rows.slice(0, 2) });
  expect(byLoss).toMatchObject({ stoppedEarly: false, steps: 6, best: { step: 6 } });
});

it("continues bit by bit after it was stopped", async () => {
  const whole = await run();
  const outputDir = newFolder();
  const controller = new AbortController();
  const onEvent = ({ type, step }: TrainerEvent): void => {
    if (type === "step-end" && step === 3) controller.abort();
  };
  const trainer = { outputDir };
  await run({ trainer }, { onEvent, signal: controller.signal });
  const resumed = await run({ trainer }, { resume: "auto" });
  expect(resumed).toMatchObject({ status: "completed", steps: 6, best: whole.best });
  expect(validationsOf(resumed.runDir)).toEqual(validationsOf(whole.runDir));
});

it("takes agent, evaluator and tasks from the options, which it reads then", async () => {
  const folder = newFolder();
  writeFileSync(
    join(folder, "parts.mjs"),
    `export async function agent(task, { baseUrl, apiKey, model }) {
      const response = await fetch(baseUrl + "/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer " + apiKey },
        body: JSON.stringify({ model, messages: [{ role: "user", content: task.instruction }] }),
      });
      return (await response.json()).choices[0].message.content;
    }
    export const evaluator = (task, episode) => episode.output === "yes";`,
  );
  writeFileSync(join(folder, "val.jsonl"), '{"instruction": "yes or no?"}\n');
  const parts = join(folder, "parts.mjs");
  const warnings: string[] = [];
  const onEvent = (event: TrainerEvent): void => {
    if (event.type === "warning") warnings.push(event.message);
  };
  const result = await fineTune({
    backend: learner(),
    config: {
      model: { name: "coin" },
      ...{ agent: parts, evaluator: parts },
      dataset: { val: join(folder, "val.jsonl") },
      rollout: { nVal: 8 },
      fineTuning: { rewards: true },
      trainer: { totalBatches: 2, outputDir: newFolder() },
    },
    train: rows,
    onEvent,
  });
  expect(validationsOf(result.runDir)[0]!["val/episodes"]).toBe(8);
  expect(warnings.join()).not.toContain("does not read");
});

it.each([
  [{ fineTuning: { rewards: true } }, "agent is not set"],
  [{ fineTuning: { rewards: true }, agent: "a.mjs", evaluator: "a.mjs" }, /a\.mjs/u],
])("refuses %j", async (set, message) => {
  const config = { model: { name: "coin" }, ...set, trainer: { outputDir: newFolder() } };
  await expect(fineTune({ backend: learner(), config, train: rows })).rejects.toThrow(message);
});

it("refuses several sources, and agents without a task", async () => {
  const sources = { dataset: { sources: { a: { train: "a.jsonl" } } } };
  await expect(run(sources)).rejects.toThrow("fine_tuning.rewards has one agent");
  const empty = { rewards: { ...rewards, valDataset: [] } };
  await expect(run({}, empty)).rejects.toThrow(/validation/u);
});
