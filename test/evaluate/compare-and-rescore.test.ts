import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineEpisode, defineTrajectory } from "../../src/core/report.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { compareEvaluations } from "../../src/runs/evaluations/compare.ts";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import type { EvaluationItem } from "../../src/runs/evaluations/evaluation-item.ts";
import { rescore } from "../../src/launch/evaluate/rescore.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import { callModel } from "../../src/rollouts/workflow/model-call.ts";
import {
  coinAgent,
  coinEvaluator,
  coinTasks,
  coinTrainer,
  newFolder,
  readLines,
} from "../trainer/coin-run.ts";
import { processorClock } from "../processor-time.ts";

const item = (id: string, reward: number, attempt = 1): EvaluationItem => ({
  id,
  attempt,
  episodeId: `eval/${id}/${attempt}`,
  dataSource: null,
  reward,
  isCorrect: reward >= 1,
  signals: {},
  terminationReason: "completed",
  usage: { calls: 1, promptTokens: 1, responseTokens: 1 },
  latencyMs: 1,
  metrics: {},
});
const made = (rewards: readonly number[], first = 0) => ({
  items: rewards.map((reward, i) => item(`t${i + first}`, reward)),
  summary: { failureReward: 0 },
});
const many = <T>(count: number, value: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => value(i));

describe("compareEvaluations", () => {
  it("has the interval of the normal approximation of paired differences for many tasks", () => {
    const a = many(400, (i) => (i % 4 === 0 ? 1 : 0));
    const b = many(400, (i) => (i % 4 === 0 || i % 10 === 1 ? 1 : 0));
    const { reward, pass, tasks, changed, isBetter, isWorse } = compareEvaluations(
      made(a),
      made(b),
    );
    const differences = a.map((value, i) => b[i]! - value);
    const mean = differences.reduce((sum, value) => sum + value, 0) / 400;
    const variance = differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 400;
    const half = 1.96 * Math.sqrt(variance / 400);
    expect({ tasks, isBetter, isWorse }).toEqual({ tasks: 400, isBetter: true, isWorse: false });
    expect(reward?.difference).toBeCloseTo(mean, 12);
    expect(reward!.low).toBeCloseTo(mean - half, 2);
    expect(reward!.high).toBeCloseTo(mean + half, 2);
    expect(pass).toEqual(reward);
    expect(changed).toHaveLength(differences.filter((value) => value !== 0).length);
    const back = compareEvaluations(made(b), made(a));
    expect({ worse: back.isWorse, better: back.isBetter }).toEqual({ worse: true, better: false });
    expect(compareEvaluations(made(a), made(b))).toEqual(compareEvaluations(made(a), made(b)));
  });

  it("calls two equal evaluations neither, and a few changed tasks chance", () => {
    const same = compareEvaluations(made([1, 0, 1]), made([1, 0, 1]));
    expect(same).toMatchObject({ changed: [], isWorse: false, isBetter: false });
    expect(same.reward).toEqual({ a: 2 / 3, b: 2 / 3, difference: 0, low: null, high: null });
    const chance = compareEvaluations(made([1, 0, 1, 0]), made([0, 1, 1, 0]));
    expect(chance.changed.map(({ id }) => id)).toEqual(["t0", "t1"]);
    expect(chance).toMatchObject({ isWorse: false, isBetter: false });
  });

  it("decides by one test: what pass@1 alone shows is no verdict", () => {
    const correct = (isCorrect: boolean) => ({
      items: many(30, (i) => ({ ...item(`t${i}`, i % 2), isCorrect })),
      summary: { failureReward: 0 },
    });
    const { pass, reward, isWorse, isBetter } = compareEvaluations(correct(true), correct(false));
    expect(pass).toMatchObject({ difference: -1, low: -1, high: -1 });
    expect(reward).toMatchObject({ difference: 0, low: 0, high: 0 });
    expect({ isWorse, isBetter }).toEqual({ isWorse: false, isBetter: false });
  });

  it("compares tasks that both have, and names the others", () => {
    const { tasks, onlyInA, onlyInB, reward } = compareEvaluations(
      made([1, 0, 1]),
      made([1, 0], 2),
    );
    expect({ tasks, onlyInA, onlyInB }).toEqual({
      tasks: 1,
      onlyInA: ["t0", "t1"],
      onlyInB: ["t3"],
    });
    expect(reward).toMatchObject({ a: 1, b: 1 });
    expect(() => compareEvaluations(made([1]), made([1], 5))).toThrow(/no task in common/u);
    expect(() => compareEvaluations(newFolder(), made([1]))).toThrow(/evaluation\.json/u);
  });
});

describe("rescore", () => {
  const sayYes = (tasks: RegExp) =>
    createScriptedTarget(({ text }) => (tasks.test(text) ? "yes" : "no"));

  it("changes nothing with the same evaluator, and shows what a new one changes", async () => {
    const folder = join(newFolder(), "eval");
    const coin = { agentFlow: coinAgent, evaluator: coinEvaluator, dataset: coinTasks } as const;
    const recorded = await evaluate({ ...coin, model: sayYes(/[03]/u), folder });
    const same = await rescore({ episodes: folder, evaluator: coinEvaluator });
    expect(same.changed).toEqual([]);
    expect(same.summary.passAt).toEqual(recorded.summary.passAt);
    const output = `${folder}-again`;
    const { changed, before, summary } = await rescore({
      episodes: folder,
      evaluator: (_task: Task, episode: Episode) => ({
        reward: episode.output === "no" ? 0.5 : 1,
        isCorrect: episode.output === "no",
        signals: [{ name: "length", value: String(episode.output).length }],
      }),
      folder: output,
    });
    expect(before.reward?.mean).toBe(2 / 5);
    expect(summary.reward?.mean).toBeCloseTo((2 * 1 + 3 * 0.5) / 5, 12);
    expect(summary.signals["length"]?.mean).toBe((2 * 3 + 3 * 2) / 5);
    expect(changed).toHaveLength(5);
    expect(changed.find(({ id }) => id === "task-1")).toMatchObject({
      before: { reward: 0, isCorrect: false },
      after: { reward: 0.5, isCorrect: true },
    });
    const { pass } = compareEvaluations(folder, output);
    expect(pass).toMatchObject({ a: 2 / 5, b: 3 / 5 });
  });

  const reporting = async (task: Task, config: Parameters<typeof coinAgent>[1]) => {
    const { responseId, content } = await callModel(config, config, [
      { role: "user", content: task.instruction },
    ]);
    const reward = content === "yes" ? 0.25 : 0;
    return defineEpisode({
      output: content,
      metadata: { notes: 1 },
      trajectories: [
        defineTrajectory({
          name: "agent",
          reward: reward * 2,
          signals: { tried: 3 },
          steps: [{ responseId, reward }],
        }),
      ],
    });
  };
  /** Reads all that a rollout can say of itself, and overwrites it. */
  const reader = (_task: Task, { trajectories, metadata, reward }: Episode) => {
    const [own] = trajectories;
    const read = [own?.reward, own?.steps[0]?.reward, own?.signals["tried"], metadata["notes"]];
    return {
      reward: read.reduce((sum: number, value) => sum * 10 + Number(value ?? 7), 0),
      isCorrect: reward === null,
      signals: [{ name: "tried", value: 9 }],
      metadata: { notes: 5 },
    };
  };

  it.each(["evaluator", "rollout"] as const)(
    "reproduces an evaluator that reads what the agent reported, with reward_source %s",
    async (source) => {
      const folder = join(newFolder(), "eval");
      const config = { model: { name: "m" }, rollout: { rewardSource: source } };
      const rollouts = { agentFlow: reporting, evaluator: reader, dataset: coinTasks };
      const recorded = await evaluate({ ...rollouts, config, model: sayYes(/[03]/u), folder });
      const again = await rescore({ episodes: folder, evaluator: reader });
      const scores = (items: readonly EvaluationItem[]) =>
        items.map(({ id, signals }) => [id, signals]);
      expect(scores(again.items)).toEqual(scores(recorded.items));
      if (source === "evaluator") expect(again.changed).toEqual([]);
      expect(new Set(again.items.map(({ reward }) => reward))).toEqual(new Set([556, 31]));
      expect(again.warnings).toEqual([]);
    },
  );

  it("and an evaluation: what fails before its first result leaves its folder free", async () => {
    const coin = { agentFlow: coinAgent, evaluator: coinEvaluator, dataset: coinTasks } as const;
    const source = join(newFolder(), "eval");
    await expect(
      evaluate({ ...coin, model: "no-such-model", backend: "local", folder: source }),
    ).rejects.toThrow("no-such-model");
    expect(existsSync(source)).toBe(false);
    await evaluate({ ...coin, model: sayYes(/[03]/u), folder: source });
    const folder = `${source}-again`;
    const file = join(source, "episodes.jsonl");
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, `${whole}{"no":"episode"}\n`);
    await expect(rescore({ episodes: source, evaluator: coinEvaluator, folder })).rejects.toThrow(
      /is not a recorded episode/u,
    );
    expect(existsSync(folder)).toBe(false);
    writeFileSync(file, whole);
    const { changed } = await rescore({ episodes: source, evaluator: coinEvaluator, folder });
    expect(changed).toEqual([]);
  });

  it("says plainly what a record of an earlier version cannot reproduce", async () => {
    const folder = join(newFolder(), "eval");
    const coin = { agentFlow: coinAgent, evaluator: coinEvaluator, dataset: coinTasks } as const;
    await evaluate({ ...coin, model: sayYes(/[03]/u), folder });
    const file = join(folder, "episodes.jsonl");
    const old = readLines(file).map(({ reported: _reported, ...episode }) => episode);
    writeFileSync(file, old.map((episode) => `${JSON.stringify(episode)}\n`).join(""));
    const { warnings, changed } = await rescore({ episodes: folder, evaluator: coinEvaluator });
    expect(changed).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(/^5 of 5 episodes were recorded without what the agent reported/u),
    ]);
  });

  it("scores what could not be scored, and leaves what failed before", async () => {
    const folder = join(newFolder(), "eval");
    await evaluate({
      agentFlow: async (task: Task, config: Parameters<typeof coinAgent>[1]) => {
        const output = await coinAgent(task, config);
        if (task.id === "task-1") throw new Error("the tool is down");
        return output;
      },
      evaluator: (task: Task) => (task.id === "task-2" ? Number.NaN : 1),
      dataset: coinTasks,
      model: sayYes(/./u),
      folder,
    });
    const { items, changed } = await rescore({ episodes: folder, evaluator: coinEvaluator });
    expect(changed.map(({ id }) => id)).toEqual(["task-2"]);
    expect(items.find(({ id }) => id === "task-2")).toMatchObject({
      reward: 1,
      terminationReason: "completed",
    });
    const failed = items.find(({ id }) => id === "task-1");
    expect(failed).toMatchObject({ reward: 0, terminationReason: "error" });
  });

  it("reads the episodes of a run: all steps, typed arrays again", async () => {
    const { trainer } = coinTrainer({ set: { "trainer.total_batches": 2 } });
    const { runDir } = await trainer.train();
    const lengths: number[] = [];
    const { items, changed } = await rescore({
      episodes: runDir,
      evaluator: (_task: Task, episode: Episode) => {
        const { responseIds } = episode.trajectories[0]!.steps[0]!.trace;
        expect(responseIds).toBeInstanceOf(Int32Array);
        lengths.push(responseIds.length);
        return episode.output !== "yes";
      },
    });
    expect(items).toHaveLength(2 * 2 * 4);
    expect(changed).toHaveLength(items.length);
    expect(Math.min(...lengths)).toBeGreaterThan(0);
  });

  it("names the line that is no episode, and a folder without any", async () => {
    const folder = newFolder();
    const evaluator = coinEvaluator;
    await expect(rescore({ episodes: folder, evaluator })).rejects.toThrow(/no recorded episodes/u);
    mkdirSync(join(folder, "episodes"));
    writeFileSync(join(folder, "episodes", "000001.jsonl"), '\n{"id": 3}\n');
    await expect(rescore({ episodes: folder, evaluator })).rejects.toThrow(
      /000001\.jsonl:2 is not a recorded episode/u,
    );
  });

  it("takes less than 10 s for 10,000 episodes", async () => {
    const folder = join(newFolder(), "eval");
    await evaluate({
      agentFlow: coinAgent,
      evaluator: coinEvaluator,
      dataset: coinTasks,
      model: sayYes(/[03]/u),
      folder,
    });
    const file = join(folder, "episodes.jsonl");
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const many10k = Array.from({ length: 10_000 }, (_, i) => {
      const episode = JSON.parse(lines[i % 5]!) as Episode;
      const task = { ...episode.task, id: `t${i}` };
      return JSON.stringify({ ...episode, id: `eval/t${i}/0`, task });
    });
    writeFileSync(file, `${many10k.join("\n")}\n`);
    const seconds = processorClock();
    const { items, summary } = await rescore({ episodes: folder, evaluator: coinEvaluator });
    const spent = seconds();
    expect(items).toHaveLength(10_000);
    expect(summary.passAt["1"]?.mean).toBeCloseTo(2 / 5, 12);
    expect(spent).toBeLessThan(10);
  });
});
