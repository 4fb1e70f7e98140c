import { expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import type { AgentSpec } from "../../src/rollouts/service/agent-spec.ts";
import type { Agent, Environment } from "../../src/rollouts/workflow/agent-environment.ts";
import type { WireMessage } from "../../src/rollouts/workflow/model-call.ts";
import { Workflow } from "../../src/rollouts/workflow/workflow.ts";
import { request } from "../rollout/gateway-run.ts";
import { newFolder } from "../trainer/coin-run.ts";

const tasks = ["mug", "clock"].map((item) => ({
  id: item,
  instruction: `How much do 3 ${item}s cost?`,
  metadata: { question: `How much do 3 ${item}s cost?` },
}));

/** Any reward that depends on the answer will do. */
const rewardOf = (answer: string): number => (answer.length % 7) / 7;

class Way extends Workflow {
  async run(task: Task): Promise<void> {
    const agent = this.trajectory();
    const { content } = await agent.call([{ role: "user", content: task.instruction }]);
    agent.mark({ reward: rewardOf(content) });
  }
}

class Asker implements Agent<string, string> {
  readonly chatCompletions: WireMessage[] = [];
  updateFromEnv(observation: string): void {
    this.chatCompletions.push({ role: "user", content: observation });
  }
  updateFromModel(text: string): string {
    return text;
  }
}

const makeShop = ({ question }: { question: string }): Environment<string, string> => ({
  reset: () => ({ observation: question }),
  step: (answer) => ({ observation: "", reward: rewardOf(answer), done: true }),
});

const say = async (task: Task, config: AgentConfig): Promise<string> =>
  (await request(config, task.instruction)).content;

const ways: readonly AgentSpec[] = [
  { agentFlow: say, evaluator: (_task, { output }) => rewardOf(output as string) },
  { agentRunFunc: async (task, config) => rewardOf(await say(task, config)) },
  { workflowClass: Way },
  { agentClass: Asker, envClass: makeShop },
];

it(
  "the four ways in train the built-in model to the same numbers",
  { timeout: 120_000 },
  async () => {
    const runs: unknown[] = [];
    for (const way of ways) {
      await using backend = createLocalBackend();
      const trainer = new AgentTrainer({
        ...way,
        backend,
        trainDataset: tasks,
        config: {
          "model.name": "builtin:shop-tiny",
          "data.train_batch_size": 2,
          "rollout.n": 4,
          "rollout.train.max_tokens": 16,
          "training.learning_rate": 1e-3,
          "trainer.total_batches": 3,
          "trainer.save_freq": 0,
          "trainer.output_dir": newFolder(),
        },
      });
      const { metrics } = await trainer.train();
      runs.push({
        reward: metrics?.["reward/mean"],
        loss: metrics?.["train/loss"],
        norm: metrics?.["train/grad_norm"],
        rows: metrics?.["rows/count"],
        version: metrics?.["weight_version"],
      });
    }
    expect(runs[0]).toEqual({
      reward: expect.any(Number),
      loss: expect.any(Number),
      norm: expect.any(Number),
      rows: expect.any(Number),
      version: 3,
    });
    expect(runs.slice(1)).toEqual([runs[0], runs[0], runs[0]]);
  },
);
