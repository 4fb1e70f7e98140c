/** Runs on several sources of tasks: their shares, their evaluators, their metrics, and how they resume. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { coinBackend } from "./coin-backend.ts";
import {
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";

const lines = (name: string, count: number): string =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({ id: `${i}`, instruction: `${name} ${i}: yes or no?` }),
  ).join("\n");

/** Answers are scored by which of two words they are: one source wants "yes", the other "no". */
function mixture(): { readonly folder: string; readonly set: Record<string, unknown> } {
  const folder = newFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a.jsonl"), lines("a", 6));
  writeFileSync(join(folder, "b.jsonl"), lines("b", 4));
  writeFileSync(
    join(folder, "scores.mjs"),
    'export const wantsNo = (task, episode) => (episode.output === "no" ? 1 : 0);\n',
  );
  const at = (name: string): string => join(folder, name);
  return {
    folder,
    set: {
      "dataset.sources": {
        a: { train: at("a.jsonl"), val: at("b.jsonl"), weight: 3 },
        b: { train: at("b.jsonl"), evaluator: `${at("scores.mjs")}#wantsNo` },
      },
      "data.train_batch_size": 4,
      "trainer.total_batches": 6,
      "trainer.save_freq": 2,
      "trainer.test_freq": 3,
    },
  };
}

const options = (set: Record<string, unknown>): CoinTrainerOptions => ({
  trainDataset: null as never,
  set,
});

describe("dataset.sources", () => {
  it.each([false, true])("takes exact shares, scored by their own; async: %s", async (isAsync) => {
    const { set } = mixture();
    const more = isAsync ? { "async_training.enable": true } : {};
    const { trainer } = coinTrainer(options({ ...set, ...more }));
    const { runDir } = await trainer.train();
    const steps = readLines(runDir, "metrics.jsonl").filter(({ phase }) => phase === "train");
    expect(steps).toHaveLength(6);
    if (!isAsync)
      for (const step of steps)
        expect([step["source/a/tasks"], step["source/b/tasks"]]).toEqual([3, 1]);
    const totals = (name: string): number =>
      steps.reduce((sum, step) => sum + ((step[`source/${name}/tasks`] as number) ?? 0), 0);
    expect(totals("a") + totals("b")).toBe(24);
    const folder = join(runDir, "episodes");
    const episodes = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".jsonl") && !file.includes("val"))
      .flatMap((file) => readLines(folder, file));
    expect(episodes.length).toBeGreaterThan(0);
    for (const line of episodes) {
      const { task, output, reward } = line as never as Episode;
      const wanted = task.metadata["data_source"] === "a" ? "yes" : "no";
      expect(reward).toBe(output === wanted ? 1 : 0);
    }
  });

  it("opens episodes of an environment with the tasks that it gave", async () => {
    const { folder, set } = mixture();
    writeFileSync(
      join(folder, "env.mjs"),
      `export const environment = {
        name: "plain",
        async *tasks(split) {
          for (let i = 0; i < 3; i++) yield { id: split + i, instruction: "yes or no?", metadata: { i } };
        },
        async open(task) {
          if (JSON.stringify(task) !== JSON.stringify({ id: "hard" + task.metadata.i, instruction: "yes or no?", metadata: { i: task.metadata.i } }))
            throw new Error("another task: " + JSON.stringify(task));
          return { prompt: [], tools: [], call: async () => ({ text: "" }), close: async () => {} };
        },
      };`,
    );
    const sources = {
      a: { train: join(folder, "a.jsonl"), limit: 4 },
      games: { env: `${join(folder, "env.mjs")}#environment`, split: "hard" },
    };
    const { trainer } = coinTrainer(options({ ...set, "dataset.sources": sources }));
    const { runDir } = await trainer.train();
    const steps = readLines(runDir, "metrics.jsonl").filter(({ phase }) => phase === "train");
    for (const step of steps)
      expect(step).toMatchObject({
        ...{ "source/a/tasks": 2, "source/games/tasks": 2 },
        "source/games/failed": 0,
      });
  });

  it.each(["none", "solve_rate"])(
    "continues bit by bit after it was stopped, curriculum: %s",
    async (curriculum) => {
      const { set: plain } = mixture();
      const set = { ...plain, "data.curriculum": curriculum };
      const whole = coinBackend();
      const { runDir } = await coinTrainer({ ...options(set), backend: whole }).trainer.train();
      const outputDir = newFolder();
      const controller = new AbortController();
      await coinTrainer({
        ...options(set),
        outputDir,
        signal: controller.signal,
        onEvent: ({ type, step }) => {
          if (type === "step-end" && step === 3) controller.abort();
        },
      }).trainer.train();
      const backend = coinBackend();
      const again = coinTrainer({ ...options(set), outputDir, backend, resume: "auto" });
      const { runDir: resumed } = await again.trainer.train();
      expect(backend.weight).toBe(whole.weight);
      const numbers = (folder: string) => readLines(folder, "metrics.jsonl").map(withoutClock);
      expect(numbers(resumed)).toEqual(numbers(runDir));
      for (const step of numbers(runDir).filter(({ phase }) => phase === "train"))
        expect([step["source/a/tasks"], step["source/b/tasks"]]).toEqual([3, 1]);
    },
  );

  it("validates by source", async () => {
    const { set } = mixture();
    const { runDir } = await coinTrainer(options(set)).trainer.train();
    const validation = readLines(runDir, "metrics.jsonl").find(
      ({ phase }) => phase === "validation",
    );
    expect(validation).toMatchObject({ "val/a/episodes": 4 });
  });

  it.each([
    [
      { "dataset.train": "t.jsonl" },
      "dataset.train=t.jsonl cannot be combined with dataset.sources",
    ],
    [
      { "dataset.val_fraction": 0.1 },
      "dataset.val_fraction=0.1 cannot be combined with dataset.sources",
    ],
    [{ env: "harbor:tasks" }, "env=harbor:tasks cannot be combined with dataset.sources"],
    [{ "dataset.sources": { a: {} } }, "dataset.sources must be a map of names to maps of train"],
    [{ "dataset.sources": { "a/b": { train: "t.jsonl" } } }, "dataset.sources must be a map"],
    [
      { "dataset.sources": { a: { train: "t.jsonl", weight: 0 } } },
      "dataset.sources must be a map",
    ],
  ])("refuses %j", (set, message) => {
    const sources = { "dataset.sources": { a: { train: "a.jsonl" } } };
    expect(() => loadConfig({ overrides: { "model.name": "m", ...sources, ...set } })).toThrow(
      message,
    );
  });
});
