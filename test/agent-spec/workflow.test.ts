import { describe, expect, it, vi } from "vitest";
import type { Task } from "../../src/core/task.ts";
import { TerminationEvent } from "../../src/core/termination.ts";
import type { Agent, Environment, Maker } from "../../src/rollouts/workflow/agent-environment.ts";
import { CumulativeWorkflow } from "../../src/rollouts/workflow/cumulative.ts";
import type { WireMessage } from "../../src/rollouts/workflow/model-call.ts";
import { MultiTurnWorkflow, SingleTurnWorkflow } from "../../src/rollouts/workflow/multi-turn.ts";
import { shapeRewards } from "../../src/rollouts/workflow/reward-shaping.ts";
import { workflowProgram } from "../../src/rollouts/workflow/workflow-program.ts";
import { Workflow, type WorkflowClass } from "../../src/rollouts/workflow/workflow.ts";
import {
  questions,
  retryingAgent,
  runThroughGateway,
  type GatewayRun,
} from "../rollout/gateway-run.ts";

const never = (): Promise<never> => new Promise(() => {});

async function run(workflow: WorkflowClass, args: object = {}, options: GatewayRun = {}) {
  const program = workflowProgram(workflow, args);
  return await runThroughGateway({ program, evaluator: null, ...options });
}

describe("shapeRewards", () => {
  it.each([
    // c = 0, γ = 0: the sum.
    [[1, 0, 2], {}, [1, 0, 2], 3],
    // γ = ½: 1 + ½·0 + ¼·2 = 1.5
    [[1, 0, 2], { gamma: 0.5 }, [1.5, 1, 2], 1.5],
    // c = ½: [1, 0 + ½·(0−1), 2 + ½·(2−0)]
    [[1, 0, 2], { rewardBonusCoeff: 0.5 }, [1, -0.5, 3], 3.5],
    // both: returns of [1, −½, 3]: 3, −½ + 1.5, 1 + ½·1
    [[1, 0, 2], { rewardBonusCoeff: 0.5, gamma: 0.5 }, [1.5, 1, 3], 1.5],
    // γ = 1: rewards to go.
    [[1, 0, 2], { gamma: 1 }, [3, 2, 2], 3],
    [[5], { rewardBonusCoeff: 9, gamma: 0.1 }, [5], 5],
    [[], { gamma: 0.5 }, [], 0],
  ])("%j with %j is %j, in all %d", (rewards, options, steps, total) => {
    expect(shapeRewards(rewards, options)).toEqual({ steps, total });
  });
});

/** Three calls, rewarded 1, 0 and 2. */
class Three extends Workflow {
  async run(): Promise<string> {
    const agent = this.trajectory();
    for (const [i, reward] of [1, 0, 2].entries()) {
      await agent.call([{ role: "user", content: `call ${i}` }]);
      agent.mark({ reward, action: `action ${i}` });
    }
    return "end";
  }
}

describe("Workflow", () => {
  it("W24: has its steps backed by captured tokens, with reward and action of each", async () => {
    const { episode } = await run(Three);
    expect(episode).toMatchObject({
      output: "end",
      reward: 3,
      isCorrect: true,
      terminationReason: "completed",
    });
    const [agent] = episode.trajectories;
    expect(agent).toMatchObject({ name: "agent", reward: 3 });
    expect(agent?.steps.map(({ reward, action }) => [reward, action])).toEqual([
      [1, "action 0"],
      [0, "action 1"],
      [2, "action 2"],
    ]);
    for (const { trace } of agent?.steps ?? []) {
      expect(trace.promptIds.length).toBeGreaterThan(0);
      expect(trace.responseIds.length).toBe(3);
      expect(trace.logprobs.length).toBe(3);
    }
  });

  it("W14, W23: discounting and shaping decide the trajectory's reward", async () => {
    const { episode } = await run(Three, { gamma: 0.5, rewardBonusCoeff: 0.5 });
    expect(episode.reward).toBe(1.5);
    expect(episode.trajectories[0]?.reward).toBe(1.5);
    expect(episode.trajectories[0]?.steps.map(({ reward }) => reward)).toEqual([1.5, 1, 3]);
  });

  it("has several trajectories, roles, explicit rewards, and one that is not trained", async () => {
    class Team extends Workflow<{ solvers: number }> {
      async run(): Promise<void> {
        const judge = this.trajectory("judge");
        await Promise.all(
          Array.from({ length: this.args.solvers }, async (_, i) => {
            const solver = this.trajectory(`solver ${i}`, { role: "solver" });
            await solver.call([{ role: "user", content: `solve ${i}` }]);
            solver.reward = i;
            solver.output = `answer ${i}`;
          }),
        );
        await judge.call([{ role: "user", content: "judge" }]);
        judge.mark({ reward: 1 });
        const title = this.trajectory("title", { train: false });
        await title.call([{ role: "user", content: "title" }]);
        this.isCorrect = false;
        this.metrics["rounds"] = 2;
      }
    }
    const { episode } = await run(Team, { solvers: 2 });
    const told = episode.trajectories.map(({ name, reward, output, untrained }) => [
      ...[name, reward, output, untrained],
    ]);
    expect(told.toSorted()).toEqual([
      ["judge", 1, undefined, undefined],
      ["solver", 0, "answer 0", undefined],
      ["solver", 1, "answer 1", undefined],
      ["title", null, undefined, "the agent said so"],
    ]);
    expect(episode).toMatchObject({
      reward: 2 / 3,
      isCorrect: false,
      metrics: { rounds: 2 },
    });
  });

  it("leaves the score to an evaluator where it gives none, and says so without one", async () => {
    class Silent extends Workflow {
      async run(): Promise<string> {
        return (await this.trajectory().call([{ role: "user", content: "q" }])).content;
      }
    }
    const scored = await run(Silent, {}, { evaluator: (_task, { output }) => output === "ok" });
    expect(scored.episode.trajectories[0]?.reward).toBe(1);
    const unscored = await run(Silent);
    expect(unscored.episode.error?.message).toContain("the rollout gave no reward");
  });

  it("W39: ends early by an event, with what was done so far", async () => {
    class Early extends Workflow {
      async run(): Promise<void> {
        const agent = this.trajectory();
        await agent.call([{ role: "user", content: "q" }]);
        agent.mark({ reward: 0.5 });
        throw new TerminationEvent("env_done");
      }
    }
    const { episode } = await run(Early);
    expect(episode).toMatchObject({ terminationReason: "env_done", reward: 0.5, attempts: 1 });
  });

  it("W39: ends at its own deadline, calls in flight cut, and scores what was done", async () => {
    class Slow extends Workflow {
      async run(): Promise<void> {
        const agent = this.trajectory();
        await agent.call([{ role: "user", content: "first" }]);
        agent.mark({ reward: 0.25 });
        await agent.call([{ role: "user", content: "never answered" }]);
      }
    }
    const { episode } = await run(
      Slow,
      { timeoutMs: 500 },
      { script: ({ index }) => (index === 0 ? "ok" : never()) },
    );
    expect(episode).toMatchObject({ terminationReason: "timeout", reward: 0.25, attempts: 1 });
    expect(questions(episode)).toEqual({ agent: ["first"] });
  });

  it("is a new object in each attempt, cleaned up each time, the last resource first", async () => {
    const log: string[] = [];
    let made = 0;
    class Failing extends Workflow {
      readonly #number = ++made;
      async run(): Promise<void> {
        this.onEnd(() => log.push(`${this.#number}: first`));
        this.onEnd(() => log.push(`${this.#number}: second`));
        const agent = this.trajectory();
        await agent.call([{ role: "user", content: `attempt ${this.#number}` }]);
        agent.mark({ reward: 1 });
        if (this.#number === 1) throw new Error("once");
      }
    }
    const { episode } = await run(
      Failing,
      {},
      {
        limits: { retries: 1 },
        failures: retryingAgent,
      },
    );
    expect(log).toEqual(["1: second", "1: first", "2: second", "2: first"]);
    expect(questions(episode)).toEqual({ agent: ["attempt 2"] });
    expect(episode).toMatchObject({ attempts: 2, reward: 1 });
  });

  it("counts clean-ups that fail, and runs those that come too late at once", async () => {
    let late = 0;
    class Untidy extends Workflow {
      async run(): Promise<void> {
        this.onEnd(() => Promise.reject(new Error("stuck")));
        setTimeout(() => this.onEnd(() => late++), 20);
        this.trajectory().reward = 1;
      }
    }
    const { episode } = await run(Untidy);
    expect(episode).toMatchObject({ reward: 1, metrics: { cleanups_failed: 1 } });
    await vi.waitFor(() => {
      expect(late).toBe(1);
    });
  });

  it.each<[string, unknown, object, string]>([
    ["a function", () => 1, {}, "not a class with a method run(task)"],
    [
      "a discount above 1",
      Three,
      { gamma: 1.5 },
      "workflowArgs.gamma is 1.5, but must be a number from 0 to 1.",
    ],
    ["a negative bonus", Three, { rewardBonusCoeff: -1 }, "workflowArgs.rewardBonusCoeff is -1"],
    ["no time", Three, { timeoutMs: 0 }, "workflowArgs.timeoutMs is 0"],
  ])("refuses %s", (_, workflow, args, message) => {
    expect(() => workflowProgram(workflow as WorkflowClass, args)).toThrow(message);
  });
});

/** Counts up to a goal that the environment knows. */
class Counter implements Environment<string, string> {
  static readonly log: string[] = [];
  readonly #goal: number;
  #count = 0;
  constructor({ goal }: { goal: number }) {
    this.#goal = goal;
  }
  reset() {
    return { observation: "start", info: { goal: this.#goal } };
  }
  step(action: string) {
    Counter.log.push(action);
    const done = ++this.#count === this.#goal;
    return { observation: `count ${this.#count}`, reward: done ? 1 : 0.25, done };
  }
  close() {
    Counter.log.push("closed");
  }
}

class Player implements Agent<string, string> {
  readonly chatCompletions: WireMessage[] = [];
  updateFromEnv(observation: string, _reward: number, done: boolean): void {
    if (!done) this.chatCompletions.push({ role: "user", content: observation });
  }
  updateFromModel(text: string, output: { message: WireMessage }): string {
    this.chatCompletions.push(output.message);
    return text;
  }
}

const parts = { agentClass: Player, envClass: Counter };

describe("agent and env", () => {
  it("take turns until the environment is done; one captured conversation", async () => {
    Counter.log.length = 0;
    const { episode } = await run(MultiTurnWorkflow, {
      ...{ ...parts, envArgs: { goal: 3 } },
    });
    expect(episode).toMatchObject({ terminationReason: "env_done", reward: 1.5, isCorrect: true });
    expect(Counter.log).toEqual(["ok", "ok", "ok", "closed"]);
    const [agent] = episode.trajectories;
    expect(agent?.steps.map((step) => [step.reward, step.done, step.action])).toEqual([
      [0.25, false, "ok"],
      [0.25, false, "ok"],
      [1, true, "ok"],
    ]);
    // Each prompt begins with the one before and its answer, id by id.
    const traces = agent?.steps.map(({ trace }) => trace) ?? [];
    for (const [i, { promptIds, responseIds }] of traces.slice(0, -1).entries()) {
      const next = traces[i + 1]?.promptIds.slice(0, promptIds.length + responseIds.length);
      expect(next).toEqual(Int32Array.of(...promptIds, ...responseIds));
    }
  });

  it.each<[string, WorkflowClass, object, GatewayRun, string, number]>([
    ["turns", MultiTurnWorkflow, { maxSteps: 2 }, {}, "max_turns_exceeded", 2],
    ["one turn", SingleTurnWorkflow, {}, {}, "max_turns_exceeded", 1],
    ["done", SingleTurnWorkflow, { envArgs: { goal: 1 } }, {}, "env_done", 1],
    [
      "an answer cut off",
      MultiTurnWorkflow,
      {},
      { maxTokens: 1 },
      "max_response_length_exceeded",
      1,
    ],
    [
      "a full context",
      MultiTurnWorkflow,
      {},
      { contextLength: 70 },
      "max_prompt_length_exceeded",
      2,
    ],
  ])("end by %s", async (_, workflow, args, options, reason, steps) => {
    const all = { ...parts, envArgs: { goal: 99 }, ...args };
    const { episode } = await run(workflow, all, options);
    expect([episode.terminationReason, episode.trajectories[0]?.steps.length]).toEqual([
      ...[reason, steps],
    ]);
  });

  it("end by a budget of tokens that the turns have spent together", async () => {
    const args = { ...parts, envArgs: { goal: 99 }, maxResponseLength: 40, maxSteps: 9 };
    const { episode } = await run(CumulativeWorkflow, args);
    expect(episode.terminationReason).toBe("max_response_length_exceeded");
    const traces = episode.trajectories[0]?.steps.map(({ trace }) => trace) ?? [];
    const start = traces[0]?.promptIds.length ?? 0;
    const spent = traces.map((call) => call.promptIds.length + call.responseIds.length - start);
    expect(spent.at(-1)).toBeGreaterThanOrEqual(40);
    expect(spent.at(-2)).toBeLessThan(40);
  });

  it("are made by class, by fromDict, or by an async arrow function, from task and arguments", async () => {
    const seen: unknown[] = [];
    class FromDict extends Counter {
      static async fromDict(row: { gold: string; goal: number }): Promise<FromDict> {
        seen.push(row);
        return new FromDict(row);
      }
    }
    const arrow: Maker<Environment> = async (row: { gold: string; goal: number }) => {
      seen.push(row);
      return new Counter(row);
    };
    for (const envClass of [FromDict, arrow]) {
      const { episode } = await run(SingleTurnWorkflow, {
        ...{ agentClass: Player, envClass, envArgs: { goal: 1 } },
      });
      expect(episode.reward).toBe(1);
    }
    expect(seen).toEqual([
      { gold: "a", goal: 1 },
      { gold: "a", goal: 1 },
    ]);
  });

  it.each<[string, Partial<Environment>]>([
    ["reset throws", { reset: () => Promise.reject(new Error("no world")) }],
    ["step throws", { step: () => Promise.reject(new Error("no step")) }],
    ["step gives no number", { step: () => ({ observation: 1, reward: NaN, done: true }) }],
    ["reset hangs", { reset: never }],
    ["step hangs", { step: never }],
  ])("close the environment also when %s", async (_, broken) => {
    let closed = 0;
    const envClass = () => ({
      reset: () => ({ observation: "o" }),
      step: () => ({ observation: "o", reward: 1, done: true }),
      close: () => closed++,
      ...broken,
    });
    const args = { agentClass: Player, envClass };
    const options = { limits: { timeoutMs: 300 } };
    const { episode } = await run(MultiTurnWorkflow, args, options);
    expect(["error", "timeout"]).toContain(episode.terminationReason);
    await vi.waitFor(() => {
      expect(closed).toBe(1);
    });
  });

  it("W72: reach the trainer's own loop with what the task holds", async () => {
    class Asks extends MultiTurnWorkflow {
      override async run(task: Task): Promise<never> {
        expect(task.metadata).toEqual({ gold: "a" });
        return await super.run(task);
      }
    }
    const { episode } = await run(Asks, { ...parts, envArgs: { goal: 1 } });
    expect(episode.error).toBeUndefined();
  });
});
