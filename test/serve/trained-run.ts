/** A run of the embedded engine of three steps, each saved; the weights differ enough to be told apart. */
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { coinAgent, coinTasks, newFolder } from "../trainer/coin-run.ts";

const evaluator = (_task: Task, episode: Episode): number => String(episode.output).length;

export async function trainedRun(): Promise<string> {
  const { runDir } = await new AgentTrainer({
    agentFlow: coinAgent,
    evaluator,
    trainDataset: coinTasks,
    valDataset: coinTasks,
    config: {
      model: { name: "builtin:shop-tiny", loraRank: 4 },
      data: { trainBatchSize: 2 },
      dataset: { leakCheck: false },
      rollout: { n: 2, nVal: 1, train: { maxTokens: 6 }, val: { maxTokens: 6 } },
      training: { learningRate: 3e-2 },
      trainer: {
        totalBatches: 3,
        saveFreq: 1,
        keepCheckpoints: 9,
        outputDir: newFolder(),
      },
    },
  }).train();
  return runDir;
}
