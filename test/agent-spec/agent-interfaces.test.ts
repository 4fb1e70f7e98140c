import { describe, expect, it } from "vitest";
import { Workflow } from "../../src/rollouts/workflow/workflow.ts";
import type { Agent, Environment } from "../../src/rollouts/workflow/agent-environment.ts";
import type { AgentSpec } from "../../src/rollouts/service/agent-spec.ts";
import type { Task } from "../../src/core/task.ts";
import type { WireMessage } from "../../src/rollouts/workflow/model-call.ts";
import { coinBackend, type CoinUpdate } from "../trainer/coin-backend.ts";
import {
  coinAgent,
  coinEvaluator,
  coinTasks,
  coinTrainer,
  readLines,
  withoutClock,
} from "../trainer/coin-run.ts";

const rewardOf = (answer: string): number => (answer === "yes" ? 1 : 0);
const taskRows = coinTasks.map((task) => ({ ...task, metadata: { question: task.instruction } }));

class CoinWorkflow extends Workflow {
  async run(task: Task): Promise<string> {
    const agent = this.trajectory();
    const { content } = await agent.call([{ role: "user", content: task.instruction }]);
    agent.mark({ reward: rewardOf(content) });
    return content;
  }
}

class Asker implements Agent<string, string> {
  readonly chatCompletions: WireMessage[] = [];
  updateFromEnv(observation: string, _reward: number, done: boolean): void {
    if (!done) this.chatCompletions.push({ role: "user", content: observation });
  }
  updateFromModel(text: string): string {
    return text;
  }
}

class Coin implements Environment<string, string> {
  readonly #question: string;
  constructor({ question }: { question: string }) {
    this.#question = question;
  }
  reset() {
    return { observation: this.#question };
  }
  step(action: string) {
    return { observation: "", reward: rewardOf(action), done: true };
  }
}

const ways: Readonly<Record<string, AgentSpec>> = {
  agentFlow: { agentFlow: coinAgent, evaluator: coinEvaluator },
  "agentFlow, an object": {
    agentFlow: { run: coinAgent },
    evaluator: {
      evaluate: (task, episode) => [coinEvaluator(task, episode) ? 1 : 0, episode.output === "yes"],
    },
  },
  workflow: { workflowClass: CoinWorkflow },
  "agent and env": { agentClass: Asker, envClass: Coin },
  agentRunFunc: {
    agentRunFunc: async (task, config) => rewardOf(await coinAgent(task, config)),
  },
};

async function train(way: AgentSpec) {
  const backend = coinBackend();
  const none = { agentFlow: undefined, evaluator: undefined };
  const { trainer } = coinTrainer({
    backend,
    trainDataset: taskRows,
    valDataset: taskRows.slice(0, 2),
    ...none,
    ...way,
  } as never);
  const { runDir, status } = await trainer.train();
  // How a rollout ended has another name in an environment.
  const metrics = readLines(runDir, "metrics.jsonl").map((line) =>
    Object.fromEntries(
      Object.entries(withoutClock(line)).filter(([key]) => !key.includes("/termination_fraction/")),
    ),
  );
  const rewards = [1, 2, 3, 4].map((step) =>
    readLines(runDir, "episodes", `00000${step}.jsonl`).map(({ reward, isCorrect }) => [
      reward,
      isCorrect,
    ]),
  );
  return { status, metrics, rewards, updates: backend.updates, weight: backend.weight };
}

/** Rows without the uids in their provenance, which are random to the run. */
const trained = (updates: readonly CoinUpdate[]) =>
  updates.map(({ rows, optim }) => ({
    optim,
    rows: rows.map(({ tokens, targetMask, advantages, samplingLogprobs }) => ({
      tokens,
      targetMask,
      advantages,
      samplingLogprobs,
    })),
  }));

describe("the four ways in", () => {
  it(
    "give the same rewards, rows, metrics and weights for the same agent",
    { timeout: 30_000 },
    async () => {
      const runs = await Promise.all(Object.values(ways).map(train));
      const [first] = runs;
      expect(first!.status).toBe("completed");
      expect(first!.updates.length).toBeGreaterThan(1);
      expect(new Set(first!.rewards.flat().map(([reward]) => reward))).toEqual(new Set([0, 1]));
      for (const run of runs.slice(1)) {
        expect(run.rewards).toEqual(first!.rewards);
        expect(trained(run.updates)).toEqual(trained(first!.updates));
        expect(run.metrics).toEqual(first!.metrics);
        expect(run.weight).toBe(first!.weight);
      }
    },
  );
});
