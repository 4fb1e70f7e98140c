/** Evaluators in a run: signals become metrics, and a relative judge rewards the roles of a rollout. */
import { expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import { defineTrajectory } from "../../src/core/report.ts";
import type { Task } from "../../src/core/task.ts";
import { exactMatch, relativeJudge, weighted } from "../../src/evaluators/index.ts";
import { coinAgent, coinTasks, coinTrainer, newFolder, readLines } from "../trainer/coin-run.ts";

it("reports the parts of a weighted score as metrics", async () => {
  const outputDir = newFolder();
  const { trainer } = coinTrainer({
    outputDir,
    trainDataset: coinTasks.map((task) => ({ ...task, metadata: { answer: "yes" } })),
    evaluator: weighted({ correct: [0.8, exactMatch()], some: [0.2, () => 0.5] }),
    set: { "trainer.total_batches": 1 },
  });
  await trainer.train();
  const [metrics] = readLines(outputDir, "coin", "metrics.jsonl") as Record<string, number>[];
  expect(metrics!["episode/signal/some"]).toBe(0.5);
  const correct = metrics!["episode/signal/correct"]!;
  expect(metrics!["reward/mean"]).toBeCloseTo(0.8 * correct + 0.1, 6);
  expect(metrics!["rollout/pass@1"]).toBeCloseTo(correct, 6);
});

it("rewards several attempts of one rollout relative to each other", async () => {
  const seen: string[][] = [];
  const rank = relativeJudge({
    baseUrl: "http://judge.test/v1",
    model: "judge",
    fetch: async (_url, init) => {
      const { messages } = JSON.parse(init!.body as string) as { messages: { content: string }[] };
      const texts = [...messages[1]!.content.matchAll(/name="attempt \d+">\n(\w*)/gu)].map(
        ([, text]) => text!,
      );
      seen.push(texts);
      const scores = Object.fromEntries(
        texts.map((text, i) => [String(i + 1), text === "yes" ? 0.9 : 0.2]),
      );
      return Response.json({ choices: [{ message: { content: JSON.stringify({ scores }) } }] });
    },
  });
  const agentRunFunc = async (task: Task, config: AgentConfig) => {
    const attempts = await Promise.all(
      [1, 2, 3, 4].map(async (i) => {
        const { uid, name, baseUrl } = config.trajectory(`attempt ${i}`, { role: "solver" });
        return { uid, name, text: await coinAgent(task, { ...config, baseUrl }) };
      }),
    );
    const scores = await rank(
      task,
      attempts.map(({ text }) => text),
    );
    return attempts.map(({ uid }, i) =>
      defineTrajectory({ name: "solver", uid, reward: scores[i]!.reward }),
    );
  };
  const outputDir = newFolder();
  const { trainer } = coinTrainer({
    outputDir,
    agentRunFunc,
    agentFlow: undefined,
    evaluator: undefined,
    set: { "trainer.total_batches": 2, "rollout.n": 1, "data.train_batch_size": 4 },
  } as unknown as Parameters<typeof coinTrainer>[0]);
  const result = await trainer.train();
  expect(result.status).toBe("completed");
  expect(seen).toHaveLength(8);
  const lines = readLines(outputDir, "coin", "metrics.jsonl") as Record<string, number>[];
  const share = seen.flat().filter((text) => text === "yes").length / seen.flat().length;
  const mean =
    lines.reduce((sum, line) => sum + (line["reward/solver/mean"] ?? line["reward/mean"]!), 0) /
    lines.length;
  expect(mean).toBeCloseTo(0.9 * share + 0.2 * (1 - share), 6);
});
