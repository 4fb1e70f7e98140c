/** Sweeps of runs of the coin policy: their runs, how they resume, what fails, and what they report. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import type { TrainConfig } from "../../src/config/train-config.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { sweep } from "../../src/launch/sweep/sweep.ts";
import type { SweepOptions, SweepRunOptions } from "../../src/launch/sweep/sweep-options.ts";
import { viewableIn } from "../../src/view/server/viewed-run.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import {
  coinAgent,
  coinConfig,
  coinEvaluator,
  coinTasks,
  coinTrainer,
  newFolder,
  readLines,
  withoutClock,
} from "../trainer/coin-run.ts";

const overridesOf = (set: object): string[] =>
  Object.entries({ ...coinConfig("unused"), ...set }).map(
    ([key, value]) => `${key}=${JSON.stringify(value)}`,
  );

const train = (config: TrainConfig, run: SweepRunOptions) =>
  new AgentTrainer({
    ...{ config, ...run, backend: coinBackend() },
    ...{ agentFlow: coinAgent, evaluator: coinEvaluator },
    ...{ trainDataset: coinTasks, valDataset: coinTasks },
  }).train();

function coinSweep(folder: string, more: Partial<SweepOptions> = {}, set: object = {}) {
  const made: string[] = [];
  const result = sweep({
    folder,
    config: (overrides) => loadConfig({ overrides: [...overridesOf(set), ...overrides] }).config,
    train,
    onRun: ({ name }) => made.push(name),
    ...more,
  });
  return { result, made };
}

const metricsOf = (folder: string) => readLines(folder, "metrics.jsonl").map(withoutClock);

it("makes ordinary runs: the same, digit by digit, as each alone", async () => {
  const folder = join(newFolder(), "seeds");
  const { result, made } = coinSweep(folder, { seeds: 3 });
  const { status, points, metric, best } = await result;
  expect(made).toEqual(["seed=0", "seed=1", "seed=2"]);
  expect({ status, metric, best }).toEqual({
    ...{ status: "completed", metric: "val/reward/mean", best: 0 },
  });
  const [point] = points;
  expect(point!.toBest).toBeNull();
  for (const { path, seed, value, status: ended } of point!.runs) {
    expect(ended).toBe("completed");
    const set = { "trainer.seed": seed };
    const alone = await coinTrainer({ set, valDataset: coinTasks }).trainer.train();
    expect(metricsOf(path)).toEqual(metricsOf(alone.runDir));
    expect(value).toBe(alone.validation!["val/reward/mean"]);
  }
  // The viewer shows them on the page of the folder that the sweep is in.
  expect(viewableIn(dirname(folder))).toEqual(point!.runs.map(({ path }) => path));
  const values = point!.runs.map(({ value }) => value!);
  expect(point!.result!.mean).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / 3, 12);
});

const rates = { parameters: { "training.learning_rate": [0, 0.9] }, seeds: [1, 2, 3] };

it("finds the best point, and the difference to it seed by seed", async () => {
  const { result } = coinSweep(join(newFolder(), "sweep"), rates);
  const { points, best } = await result;
  expect(best).toBe(1);
  const [slow, fast] = points;
  expect(slow!.options).toEqual({ "training.learning_rate": 0 });
  const differences = slow!.runs.map(({ value }, i) => value! - fast!.runs[i]!.value!);
  const mean = differences.reduce((sum, value) => sum + value, 0) / 3;
  expect(slow!.toBest!.difference).toBeCloseTo(mean, 12);
  expect(slow!.toBest!.low!).toBeLessThan(mean);
  expect(fast!.toBest).toBeNull();
});

it("resumes the run that was stopped bit by bit, and repeats none that ended", async () => {
  const whole = join(newFolder(), "sweep");
  await coinSweep(whole, rates).result;
  const folder = join(newFolder(), "sweep");
  const controller = new AbortController();
  let steps = 0;
  const first = coinSweep(
    folder,
    {
      ...rates,
      signal: controller.signal,
      onEvent: ({ type }) => {
        if (type === "step-end" && ++steps === 6) controller.abort();
      },
    },
    { "trainer.save_freq": 1 },
  );
  const stopped = await first.result;
  expect(stopped.status).toBe("interrupted");
  expect(first.made).toHaveLength(2);
  await expect(coinSweep(folder, rates).result).rejects.toThrow("already holds a sweep");
  const again = coinSweep(folder, { ...rates, resume: true }, { "trainer.save_freq": 1 });
  expect(await again.result).toMatchObject({ status: "completed" });
  expect(again.made[0]).toBe(first.made[1]);
  expect(again.made).toHaveLength(5);
  for (const { name } of readdirSync(whole, { withFileTypes: true }).filter((e) => e.isDirectory()))
    expect(metricsOf(join(folder, name))).toEqual(metricsOf(join(whole, name)));
  // Everything is done; one more seed is.
  const done = coinSweep(folder, { ...rates, resume: true }, { "trainer.save_freq": 1 });
  expect(await done.result).toMatchObject({ status: "completed" });
  expect(done.made).toEqual([]);
  const more = coinSweep(folder, { ...rates, seeds: [1, 2, 3, 4], resume: true });
  expect((await more.result).points[1]!.runs).toHaveLength(4);
  expect(more.made).toEqual(["learning_rate=0,seed=4", "learning_rate=0.9,seed=4"]);
  // Other options would be another sweep.
  const other = coinSweep(folder, { ...rates, resume: true }, { "rollout.n": 2 });
  await expect(other.result).rejects.toThrow("rollout.n was 4 and is 2");
});

it("counts a run that fails, names it, and makes the others; tries it again where asked", async () => {
  const folder = join(newFolder(), "sweep");
  const broken = (config: TrainConfig, run: SweepRunOptions) =>
    config.trainer.seed === 1 ? Promise.reject(new Error("no memory")) : train(config, run);
  const { result } = coinSweep(folder, { seeds: 3, train: broken });
  const { status, points } = await result;
  expect(status).toBe("completed");
  expect(points[0]!.runs.map((run) => [run.status, run.message])).toEqual([
    ["completed", null],
    ["failed", "no memory"],
    ["completed", null],
  ]);
  const again = coinSweep(folder, { seeds: 3, resume: true });
  expect((await again.result).points[0]!.runs[1]!.status).toBe("failed");
  expect(again.made).toEqual([]);
  const retried = coinSweep(folder, { seeds: 3, resume: true, retryFailed: true });
  expect((await retried.result).points[0]!.runs[1]!.status).toBe("completed");
  expect(retried.made).toEqual(["seed=1"]);
});

it("ends after its minutes, which count over resumes", async () => {
  const folder = join(newFolder(), "sweep");
  const { result, made } = coinSweep(folder, { seeds: 2, minutes: 1e-9 });
  expect(await result).toMatchObject({ status: "out_of_budget" });
  expect(made).toEqual([]);
  const file = join(folder, "sweep.json");
  const record = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...record, minutes: 60 }));
  const again = coinSweep(folder, { seeds: 2, minutes: 59, resume: true });
  expect(await again.result).toMatchObject({ status: "out_of_budget" });
  const rest = coinSweep(folder, { seeds: 2, minutes: 1000, resume: true });
  const { status, minutes } = await rest.result;
  expect(status).toBe("completed");
  expect(minutes).toBeGreaterThan(60);
});

it("checks every point before anything starts, and refuses a folder that holds a run", async () => {
  const folder = join(newFolder(), "sweep");
  const { result } = coinSweep(folder, { parameters: { "rollout.n": [4, 0] } });
  await expect(result).rejects.toThrow("rollout.n");
  expect(existsSync(folder)).toBe(false);
  for (const seeds of [0, 1.5, 1e6, [1, 1], [-1], []])
    await expect(coinSweep(folder, { seeds }).result).rejects.toThrow("seeds must be");
  mkdirSync(folder);
  writeFileSync(join(folder, "config.resolved.yaml"), "model: {name: coin}\n");
  await expect(coinSweep(folder).result).rejects.toThrow("already holds a run");
  rmSync(join(folder, "config.resolved.yaml"));
  writeFileSync(join(folder, "sweep.json"), '{"format": "other"}');
  await expect(coinSweep(folder, { resume: true }).result).rejects.toThrow("cannot be read");
});
