/** The reward of a short training of a framework's agent. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evaluator } from "../../examples/shop/evaluator.ts";
import { makeTasks, type ShopTask } from "../../examples/shop/tasks.ts";
import { httpAgent } from "../../src/rollouts/agents/http/http-agent.ts";
import { AgentTrainer } from "../../src/index.ts";

const concurrency = 16;

/** The mean reward of the first and the last third of the steps. */
export async function measureTraining(
  url: string,
  steps: number,
): Promise<{ readonly rewardFirst: number; readonly rewardLast: number }> {
  const rewards: number[] = [];
  const trainer = new AgentTrainer({
    agentFlow: httpAgent<ShopTask>({ url }),
    evaluator: evaluator,
    trainDataset: makeTasks("train", 512),
    config: {
      model: { name: "builtin:shop-tiny", loraRank: 0 },
      data: { trainBatchSize: 8 },
      rollout: { n: 8, train: { maxTokens: 64 } },
      training: { learningRate: 7e-4, lrSchedule: "linear" },
      trainer: {
        totalBatches: steps,
        testFreq: 0,
        valBeforeTrain: false,
        outputDir: mkdtempSync(join(tmpdir(), "matrix-")),
      },
      workflow: { nParallelTasks: concurrency },
    },
    onEvent: (event) => {
      if (event.type === "step-end") rewards.push(event.metrics["reward/mean"] ?? 0);
    },
  });
  await trainer.train();
  const mean = (some: readonly number[]): number =>
    some.reduce((sum, one) => sum + one, 0) / Math.max(1, some.length);
  const third = Math.max(1, Math.floor(rewards.length / 3));
  return { rewardFirst: mean(rewards.slice(0, third)), rewardLast: mean(rewards.slice(-third)) };
}
