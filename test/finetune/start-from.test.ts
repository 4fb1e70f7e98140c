/** What training can start from: a fine-tuned run, full or LoRA, and recorded episodes. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { agent } from "../../examples/shop/agent.ts";
import { trainTasks } from "../../examples/shop/tasks.ts";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { findModel } from "../../src/backends/local/find-model.ts";
import type { SamplerTarget, TrainingBackend } from "../../src/core/backend.ts";
import type { Renderer } from "../../src/core/policy.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { fineTune } from "../../src/launch/finetune/fine-tune.ts";
import { episodeExamples } from "../../src/launch/finetune/examples/episode-examples.ts";
import { countTrained, trainingRow } from "../../src/launch/finetune/examples/token-row.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { readEpisodes } from "../../src/runs/evaluations/recorded-episodes.ts";
import { shopConversations } from "./trl-examples.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "start-from-"));
const signal = new AbortController().signal;
const start = async (backend: TrainingBackend, name: string, rank = 0): Promise<SamplerTarget> => {
  const lora = rank === 0 ? null : { rank, alpha: 32 };
  return (await backend.start({ seed: 0, model: { name, lora }, signal })) as SamplerTarget;
};

it("a LoRA run is a model to start from: its adapter is merged into the base", async () => {
  const { runDir, checkpoint } = await fineTune({
    config: {
      model: { name: "builtin:shop-tiny", loraRank: 4 },
      data: { trainBatchSize: 2 },
      training: { learningRate: 1e-2 },
      trainer: { totalBatches: 1, outputDir: newFolder() },
    },
    train: shopConversations("lora", 2),
  });
  const { path } = await findModel(runDir);
  expect((await findModel(runDir)).path).toBe(path);
  const tokens = Int32Array.from({ length: 24 }, (_, i) => (i * 7) % 200);
  const row = trainingRow({ tokens, mask: new Uint8Array(24).fill(1) }, "here");
  await using adapted = createLocalBackend({ threads: 1, precision: "f32" });
  await start(adapted, "builtin:shop-tiny", 4);
  const [base] = await adapted.forward([row]);
  await adapted.loadState(join(checkpoint!, "weights"), 1);
  const [expected] = await adapted.forward([row]);
  await using merged = createLocalBackend({ threads: 1, precision: "f32" });
  await start(merged, runDir);
  const [found] = await merged.forward([row]);
  const furthest = (a: Float32Array, b: Float32Array): number =>
    a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
  expect(furthest(found!, expected!)).toBeLessThan(1e-4);
  expect(furthest(found!, base!)).toBeGreaterThan(1e-2);
});

describe("recorded episodes", () => {
  let folder = "";
  let renderer: Renderer;
  let episodes: readonly Episode[] = [];
  beforeAll(async () => {
    await using backend = createLocalBackend({ threads: 1 });
    const trainer = new AgentTrainer({
      backend,
      agentFlow: agent,
      // Rewards 0, 1/3, 2/3, 1 by rollout, so that every task has a best and a worst one.
      evaluator: (_task, { rolloutIndex }) => ({
        reward: rolloutIndex / 3,
        isCorrect: rolloutIndex === 3,
      }),
      trainDataset: trainTasks.slice(0, 2),
      config: {
        model: { name: "builtin:shop-tiny" },
        data: { trainBatchSize: 2 },
        rollout: { n: 4, train: { maxTokens: 32, temperature: 0.9 } },
        training: { learningRate: 0 },
        trainer: { totalBatches: 1, outputDir: newFolder() },
      },
    });
    folder = (await trainer.train()).runDir;
    episodes = [...readEpisodes(folder)];
    await using other = createLocalBackend({ threads: 1 });
    ({ renderer } = await start(other, "builtin:shop-tiny"));
  });

  const sampled = ({ trajectories }: Episode): number =>
    trajectories
      .flatMap(({ steps }) => steps)
      .reduce((sum, { trace }) => sum + trace.responseIds.length, 0);

  it("are taken with the tokens that were captured, and only the good ones", () => {
    const good = episodeExamples({ folder, minReward: null, loss: "sft" }, renderer);
    expect(good.map(({ at }) => at)).toEqual(
      episodes.filter(({ isCorrect }) => isCorrect === true).map(({ id }) => id),
    );
    for (const { at, rows } of good) {
      const episode = episodes.find(({ id }) => id === at)!;
      expect(rows.reduce((sum, row) => sum + countTrained(row), 0)).toBe(sampled(episode));
      const { promptIds, responseIds } = episode.trajectories[0]!.steps.at(-1)!.trace;
      expect([...rows.at(-1)!.tokens]).toEqual([...promptIds, ...responseIds]);
    }
    const better = episodeExamples({ folder, minReward: 0.5, loss: "sft" }, renderer);
    expect(better).toHaveLength(4);
  });

  it("are paired by task: the best and the worst", () => {
    const pairs = episodeExamples({ folder, minReward: null, loss: "dpo" }, renderer);
    expect(pairs).toHaveLength(2);
    for (const { at, rows, rejected } of pairs) {
      expect(at).toMatch(/\/3$/u);
      const worst = episodes.find(({ id }) => id === at.replace(/3$/u, "0"))!;
      const { promptIds, responseIds } = worst.trajectories[0]!.steps.at(-1)!.trace;
      expect([...rejected!.at(-1)!.tokens]).toEqual([...promptIds, ...responseIds]);
      expect(rows.length).toBeGreaterThan(0);
    }
  });

  it("are labelled by a reward, or by what is correct", () => {
    for (const minReward of [null, 0.5]) {
      const all = episodeExamples({ folder, minReward, loss: "kto" }, renderer);
      const good = episodeExamples({ folder, minReward, loss: "sft" }, renderer);
      expect(all.length).toBeGreaterThan(good.length);
      const desirable = all.filter(({ label }) => label === true);
      expect(desirable.map(({ at }) => at)).toEqual(good.map(({ at }) => at));
    }
    expect(() => episodeExamples({ folder, minReward: 2, loss: "kto" }, renderer)).toThrow(
      /not on both sides of the reward 2/u,
    );
  });

  it("are not imitated where a response was cut off, and counted", () => {
    const damaged = newFolder();
    cpSync(folder, damaged, { recursive: true });
    for (const file of readdirSync(join(damaged, "episodes"))) {
      const path = join(damaged, "episodes", file);
      const lines = readFileSync(path, "utf8").trimEnd().split("\n");
      const cut = lines.map((line) =>
        line.includes('"isCorrect":true')
          ? line.replaceAll('"stopReason":"stop"', '"stopReason":"length"')
          : line,
      );
      writeFileSync(path, `${cut.join("\n")}\n`);
    }
    const warnings: string[] = [];
    const warn = (text: string): void => void warnings.push(text);
    const choice = { folder: damaged, minReward: 0.5, loss: "sft" } as const;
    expect(episodeExamples(choice, renderer, warn)).toHaveLength(2);
    expect(warnings).toEqual([
      `2 good episodes of ${damaged} are not imitated, because they are not whole: 2 cut off.`,
    ]);
    const pairs = episodeExamples({ ...choice, loss: "dpo" }, renderer);
    expect(pairs.every(({ at }) => at.endsWith("/2"))).toBe(true);
    expect(() => episodeExamples({ ...choice, minReward: null }, renderer)).toThrow(
      /they are not whole: cut off/u,
    );
  });

  it("are refused where none is good enough, or the tokens are those of another tokenizer", () => {
    expect(() => episodeExamples({ folder, minReward: 2, loss: "sft" }, renderer)).toThrow(
      /none has a reward of at least 2/u,
    );
    const choice = { folder, minReward: 0, loss: "sft" } as const;
    const other: Renderer = {
      ...renderer,
      decode: (tokens) => renderer.decode(tokens.map((id) => id + 1)),
    };
    expect(() => episodeExamples(choice, other)).toThrow(/another tokenizer/u);
  });
});
