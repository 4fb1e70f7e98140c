/** `null` means "not given" for every argument of AgentTrainer, in a real run. */
import { describe, expect, it } from "vitest";
import { Workflow } from "../../src/index.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import type { AgentTrainerOptions } from "../../src/launch/trainer-options.ts";
import type { Task } from "../../src/core/task.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import { coinAgent, coinConfig, coinEvaluator, coinTasks, newFolder } from "../trainer/coin-run.ts";

class CoinWorkflow extends Workflow {
  override async run(task: Task): Promise<void> {
    const agent = this.trajectory();
    const { content } = await agent.call([{ role: "user", content: task.instruction }]);
    agent.mark({ reward: content === "yes" ? 1 : 0 });
  }
}

/** Every argument that may be left out. */
const nothing = {
  agentFlow: null,
  agentRunFunc: null,
  workflowClass: null,
  workflowArgs: null,
  agentClass: null,
  envClass: null,
  agentArgs: null,
  envArgs: null,
  evaluator: null,
  groupEvaluator: null,
  hooks: null,
  env: null,
  valDataset: null,
  resume: null,
  allowChanges: null,
  signal: null,
  onEvent: null,
  trackers: null,
  onPull: null,
};

const common = () => ({
  backend: coinBackend(),
  trainDataset: coinTasks,
  config: { ...coinConfig(newFolder()), "trainer.total_batches": 1 },
});

describe("null in place of an argument", () => {
  const agents: Readonly<Record<string, object>> = {
    agentFlow: { agentFlow: coinAgent, evaluator: coinEvaluator },
    agentRunFunc: {
      agentRunFunc: async (task: Task, config: Parameters<typeof coinAgent>[1]) =>
        (await coinAgent(task, config)) === "yes" ? 1 : 0,
    },
    workflowClass: { workflowClass: CoinWorkflow },
  };
  it.each(Object.keys(agents))("with %s, the run is the same as without it", async (name) => {
    const given = agents[name] as object;
    const found = [];
    for (const rest of [{}, nothing]) {
      const options = { ...common(), ...rest, ...given } as object as AgentTrainerOptions;
      const { status, metrics } = await new AgentTrainer(options).train();
      const { "rollout/failed": failed, "reward/mean": reward } = metrics ?? {};
      found.push({ status, failed, reward });
    }
    expect(found[0]).toMatchObject({ status: "completed", failed: 0, reward: expect.any(Number) });
    expect(found[1]).toEqual(found[0]);
  });

  it("leaves required parts missing", () => {
    const make = (given: object) => () =>
      new AgentTrainer({ ...common(), ...nothing, ...given } as object as AgentTrainerOptions);
    expect(make({})).toThrow("agent is not set");
    expect(make({ agentFlow: coinAgent })).toThrow("AgentTrainer needs evaluator");
    const scored = { agentFlow: coinAgent, evaluator: coinEvaluator };
    expect(make({ ...scored, trainDataset: null })).toThrow("dataset.train is not set");
  });

  it("is what the types accept", () => {
    const options: AgentTrainerOptions = {
      trainDataset: coinTasks,
      config: { model: { name: "builtin:shop-tiny" } },
      agentFlow: coinAgent,
      evaluator: coinEvaluator,
      agentRunFunc: null,
      workflowClass: null,
      hooks: null,
      backend: null,
      valDataset: null,
    };
    expect(new AgentTrainer(options).config.backend).toBe("local");
  });
});

describe("backend", () => {
  it.each([
    [3, "got a number"],
    [{}, "got an object without the methods of one"],
    [{ name: "mine" }, "got an object without the methods of one"],
    [() => {}, "got a function"],
    ["tinkr", "There is no backend"],
  ])("%j is refused", (backend, message) => {
    const scored = { agentFlow: coinAgent, evaluator: coinEvaluator };
    const options = { ...common(), ...scored, backend } as object as AgentTrainerOptions;
    expect(() => new AgentTrainer(options)).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining(message),
      }),
    );
  });
});
