/** Several seeds of the coin policy: their runs, how they resume, what fails, and what they report. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import type { TrainConfig } from "../../src/config/train-config.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import {
  type SeedRunOptions,
  trainSeeds,
  type TrainSeedsOptions,
} from "../../src/launch/seeds/train-seeds.ts";
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

const train = (config: TrainConfig, run: SeedRunOptions) =>
  new AgentTrainer({
    ...{ config, ...run, backend: coinBackend() },
    ...{ agentFlow: coinAgent, evaluator: coinEvaluator },
    ...{ trainDataset: coinTasks, valDataset: coinTasks },
  }).train();

function coinSeeds(folder: string, more: Partial<TrainSeedsOptions> = {}, set: object = {}) {
  const made: string[] = [];
  const result = trainSeeds({
    ...{ folder, seeds: 3, train },
    config: (overrides) => loadConfig({ overrides: [...overridesOf(set), ...overrides] }).config,
    onRun: ({ name }) => made.push(name),
    ...more,
  });
  return { result, made };
}

const metricsOf = (folder: string) => readLines(folder, "metrics.jsonl").map(withoutClock);

it("makes ordinary runs: the same, digit by digit, as each alone", async () => {
  const folder = join(newFolder(), "seeds");
  const { result, made } = coinSeeds(folder);
  const { status, runs, metric, result: over } = await result;
  expect(made).toEqual(["seed=0", "seed=1", "seed=2"]);
  expect({ status, metric }).toEqual({ status: "completed", metric: "val/reward/mean" });
  for (const { path, seed, value, status: ended } of runs) {
    expect(ended).toBe("completed");
    const set = { "trainer.seed": seed };
    const alone = await coinTrainer({ set, valDataset: coinTasks }).trainer.train();
    expect(metricsOf(path)).toEqual(metricsOf(alone.runDir));
    expect(value).toBe(alone.validation!["val/reward/mean"]);
  }
  // The viewer shows them on the page of the folder that theirs is in.
  expect(viewableIn(dirname(folder))).toEqual(runs.map(({ path }) => path));
  // What earlier folders call the record.
  renameSync(join(folder, "seeds.json"), join(folder, "sweep.json"));
  expect(viewableIn(dirname(folder))).toEqual(runs.map(({ path }) => path));
  renameSync(join(folder, "sweep.json"), join(folder, "seeds.json"));
  const values = runs.map(({ value }) => value!);
  const mean = values.reduce((sum, value) => sum + value, 0) / 3;
  expect(over!.mean).toBeCloseTo(mean, 12);
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2;
  expect(over!.high!).toBeCloseTo(mean + 4.3027 * Math.sqrt(variance / 3), 12);
});

it("resumes the run that was stopped bit by bit, and repeats none that ended", async () => {
  const whole = join(newFolder(), "seeds");
  const seeds = [1, 2, 3];
  await coinSeeds(whole, { seeds }).result;
  const folder = join(newFolder(), "seeds");
  const controller = new AbortController();
  let steps = 0;
  const first = coinSeeds(
    folder,
    {
      seeds,
      signal: controller.signal,
      onEvent: ({ type }) => {
        if (type === "step-end" && ++steps === 6) controller.abort();
      },
    },
    { "trainer.save_freq": 1 },
  );
  const stopped = await first.result;
  expect(stopped.status).toBe("interrupted");
  expect(stopped.runs.map(({ status }) => status)).toEqual(["completed", "waiting", "waiting"]);
  expect(first.made).toEqual(["seed=1", "seed=2"]);
  await expect(coinSeeds(folder, { seeds }).result).rejects.toThrow("runs of several seeds");
  const again = coinSeeds(folder, { seeds, resume: true }, { "trainer.save_freq": 1 });
  expect(await again.result).toMatchObject({ status: "completed" });
  expect(again.made).toEqual(["seed=2", "seed=3"]);
  for (const seed of seeds)
    expect(metricsOf(join(folder, `seed=${seed}`))).toEqual(metricsOf(join(whole, `seed=${seed}`)));
  // Everything is done; one more seed is.
  const done = coinSeeds(folder, { seeds, resume: true }, { "trainer.save_freq": 1 });
  expect(await done.result).toMatchObject({ status: "completed" });
  expect(done.made).toEqual([]);
  const more = coinSeeds(folder, { seeds: [1, 2, 3, 4], resume: true });
  expect((await more.result).runs).toHaveLength(4);
  expect(more.made).toEqual(["seed=4"]);
  // Other options would be other runs.
  const other = coinSeeds(folder, { seeds, resume: true }, { "rollout.n": 2 });
  await expect(other.result).rejects.toThrow("rollout.n was 4 and is 2");
  // Longer ones are continued.
  const longer = coinSeeds(folder, { seeds, resume: true }, { "trainer.total_batches": 5 });
  await longer.result;
  expect(longer.made).toEqual(["seed=1", "seed=2", "seed=3"]);
  expect(readLines(join(folder, "seed=1"), "metrics.jsonl").at(-1)).toMatchObject({ step: 5 });
});

it("counts a run that fails, names it, and makes the others; tries it again on resume", async () => {
  const folder = join(newFolder(), "seeds");
  const broken = (config: TrainConfig, run: SeedRunOptions) =>
    config.trainer.seed === 1 ? Promise.reject(new Error("no memory")) : train(config, run);
  const { status, runs, result } = await coinSeeds(folder, { train: broken }).result;
  expect(status).toBe("completed");
  expect(runs.map((run) => [run.status, run.message])).toEqual([
    ["completed", null],
    ["failed", "no memory"],
    ["completed", null],
  ]);
  expect(result!.mean).toBeCloseTo((runs[0]!.value! + runs[2]!.value!) / 2, 12);
  const again = coinSeeds(folder, { train: broken, resume: true });
  expect((await again.result).runs[1]).toMatchObject({ status: "failed", message: "no memory" });
  expect(again.made).toEqual(["seed=1"]);
  const mended = coinSeeds(folder, { resume: true });
  expect((await mended.result).runs[1]!.status).toBe("completed");
  expect(mended.made).toEqual(["seed=1"]);
});

it("checks the options before anything starts, and refuses a folder that holds a run", async () => {
  const folder = join(newFolder(), "seeds");
  await expect(coinSeeds(folder, {}, { "rollout.n": 0 }).result).rejects.toThrow("rollout.n");
  expect(existsSync(folder)).toBe(false);
  for (const seeds of [0, 1.5, 1e6, [1, 1], [-1], []])
    await expect(coinSeeds(folder, { seeds }).result).rejects.toThrow("seeds must be");
  mkdirSync(folder);
  writeFileSync(join(folder, "config.resolved.yaml"), "model: {name: coin}\n");
  await expect(coinSeeds(folder).result).rejects.toThrow("already holds a run");
  rmSync(join(folder, "config.resolved.yaml"));
  writeFileSync(join(folder, "seeds.json"), '{"format": "other"}');
  await expect(coinSeeds(folder, { resume: true }).result).rejects.toThrow("cannot be read");
});
