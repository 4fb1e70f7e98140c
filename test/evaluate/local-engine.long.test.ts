import { expect, it } from "vitest";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { createModelServer } from "../../src/launch/serve/model-server.ts";
import { coinAgent, coinTasks, newFolder, readLines } from "../trainer/coin-run.ts";
import { type Recorded, replay } from "./replay-server.ts";

const withoutClock = (metrics: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(metrics).filter(
      ([name]) => name.startsWith("val/") && !name.startsWith("time/"),
    ),
  );

/** A number with many digits that depends on every token. */
const evaluator = (_task: Task, episode: Episode): { reward: number; isCorrect: boolean } => {
  const letters = [...String(episode.output)].map((letter) => letter.codePointAt(0) ?? 0);
  const reward = letters.reduce((sum, code, i) => sum + Math.sin(code * (i + 1)), 0);
  return { reward, isCorrect: reward > 0 };
};

it.each([0, 4])(
  "gives the numbers of a validation of the embedded engine, LoRA rank %i",
  async (loraRank) => {
    const config = {
      model: { name: "builtin:shop-tiny", loraRank },
      data: { trainBatchSize: 2 },
      rollout: { n: 2, nVal: 2, train: { maxTokens: 6 }, val: { maxTokens: 6 } },
      training: { learningRate: 1e-3 },
      trainer: { totalBatches: 2, testFreq: 1, saveFreq: 1, seed: 7, outputDir: newFolder() },
    };
    const agent = { agentFlow: coinAgent, evaluator } as const;
    const result = await new AgentTrainer({
      ...agent,
      trainDataset: coinTasks,
      valDataset: coinTasks,
      config,
    }).train();
    const validations = readLines(result.runDir, "metrics.jsonl").filter(
      ({ phase }) => phase === "validation",
    );
    expect(validations.map(({ step }) => step)).toEqual([0, 1, 2]);
    const means = validations.map((line) => line["val/reward/mean"]);
    expect(new Set(means).size, "training changed what is sampled").toBeGreaterThan(1);
    const models = [
      "builtin:shop-tiny",
      `${result.runDir}/checkpoints/000001`,
      `${result.runDir}/checkpoints/000002/weights`,
    ];
    for (const [step, model] of models.entries()) {
      const { summary } = await evaluate({ ...agent, dataset: coinTasks, model, config });
      expect(withoutClock(summary.metrics), model).toEqual(withoutClock(validations[step]!));
    }
    // Concurrency decides nothing, and the configuration of the run is that of its checkpoints.
    const { summary } = await evaluate({
      ...agent,
      dataset: coinTasks,
      model: result.runDir,
      concurrency: 1,
    });
    expect(withoutClock(summary.metrics)).toEqual(withoutClock(validations[2]!));
  },
  120_000,
);

it("gives the same scores over HTTP: from a server of the checkpoint, and one that says the same", async () => {
  const config = {
    model: { name: "builtin:shop-tiny" },
    data: { trainBatchSize: 2 },
    rollout: { n: 2, train: { maxTokens: 6 }, val: { maxTokens: 6, temperature: 0 } },
    training: { learningRate: 1e-3 },
    trainer: { totalBatches: 1, saveFreq: 1, seed: 7, outputDir: newFolder() },
  };
  const agent = { agentFlow: coinAgent, evaluator } as const;
  const result = await new AgentTrainer({
    ...agent,
    trainDataset: coinTasks,
    valDataset: coinTasks,
    config,
  }).train();
  const scores = (metrics: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(metrics).filter(([name]) => /^val\/(?:reward|pass@)/u.test(name)),
    );
  const expected = scores(result.validation!);
  expect(Object.keys(expected).sort()).toEqual(["val/pass@1", "val/reward/mean"]);
  const evaluated = async (model: string) =>
    scores((await evaluate({ ...agent, dataset: coinTasks, model, config })).summary.metrics);
  expect(await evaluated(result.checkpoint!)).toEqual(expected);

  await using server = await createModelServer({ models: [result.checkpoint!] });
  const { url } = await server.listen();
  expect(await evaluated(url)).toEqual(expected);
  await using before = await createModelServer({ models: ["builtin:shop-tiny"] });
  const { url: urlBefore } = await before.listen();
  const first = readLines(result.runDir, "metrics.jsonl").find(({ step }) => step === 0);
  expect(await evaluated(urlBefore)).toEqual(scores(first!));

  const episodes = readLines(result.runDir, "episodes", "val-000001.jsonl");
  await using scripted = await replay(episodes as unknown as readonly Recorded[]);
  expect(await evaluated(`${scripted.url}/v1`)).toEqual(expected);
});
