/** Which rewards reach the loss: what is rejected, who scores, what failures are worth. */
import { describe, expect, it } from "vitest";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { EnvironmentSource } from "../../src/core/environment.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import { defineTrajectory } from "../../src/core/report.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { defined } from "../../src/util/defined.ts";
import type { Agent, Environment } from "../../src/rollouts/workflow/agent-environment.ts";
import { callModel, type WireMessage } from "../../src/rollouts/workflow/model-call.ts";
import { Workflow } from "../../src/rollouts/workflow/workflow.ts";
import { createProgress } from "../../src/cli/terminal/progress.ts";
import { coinBackend, type CoinBackend } from "./coin-backend.ts";
import {
  coinAgent,
  coinTasks,
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
} from "./coin-run.ts";

const warnings = (events: readonly TrainerEvent[]): string[] =>
  events.flatMap((event) => (event.type === "warning" ? [event.message] : []));

const trainLines = (runDir: string) =>
  readLines(runDir, "metrics.jsonl").filter((line) => line["phase"] === "train");

/** The advantages that each "yes" and each "no" got, over all updates. */
function advantagesOf({ updates }: CoinBackend): { yes: number[]; no: number[] } {
  const found = { yes: [] as number[], no: [] as number[] };
  for (const { rows } of updates) {
    for (const { tokens, targetMask, advantages } of rows) {
      const at = targetMask.indexOf(1);
      found[tokens[at] === "y".charCodeAt(0) ? "yes" : "no"].push(advantages[at] ?? Number.NaN);
    }
  }
  return found;
}

/** Graded by number: no rollout is "solved", and every task has something to compare. */
const graded = (_task: Task, episode: { output: unknown }): number =>
  episode.output === "yes" ? 0.9 : 0.1;

/** As a workflow would say it. */
class Graded extends Workflow {
  async run(task: Task): Promise<string> {
    const agent = this.trajectory();
    const { content } = await agent.call([{ role: "user", content: task.instruction }]);
    agent.mark({ reward: content === "yes" ? 0.9 : 0.1 });
    return content;
  }
}

describe("rewards of 0.9 and 0.1 are something to learn from", () => {
  const flow: CoinTrainerOptions = { evaluator: graded };
  // As a way of its own, it takes the place of the flow and its evaluator.
  const workflow = {
    agentFlow: undefined,
    evaluator: undefined,
    workflowClass: Graded,
  } as unknown as CoinTrainerOptions;

  it.each([
    ["a flow", flow, {}],
    ["a workflow", workflow, {}],
    ["a flow, overlapped", flow, { "async_training.enable": true }],
    ["a workflow, overlapped", workflow, { "async_training.enable": true }],
  ])("with rejection sampling: %s", async (_, way, mode) => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      ...way,
      backend,
      set: { "rejection_sample.enable": true, ...mode },
    });
    const { runDir, status, message } = await trainer.train();
    expect([status, message]).toEqual(["completed", null]);
    expect(backend.updates).toHaveLength(4);
    const { yes, no } = advantagesOf(backend);
    expect(yes.every((value) => value > 0)).toBe(true);
    expect(no.every((value) => value < 0)).toBe(true);
    // Nobody said what is solved, and nothing is called so.
    // Overlapped, rollouts may all have ended before the last step.
    const lines = trainLines(runDir).filter((line) => line["rejection_sample/tasks"] !== 0);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line).toMatchObject({
        "rejection_sample/all_correct_fraction": 0,
        "rejection_sample/some_correct_fraction": 0,
      });
      expect(
        Number(line["rejection_sample/correctness_unknown_fraction"]) +
          Number(line["rejection_sample/none_correct_fraction"]),
      ).toBe(1);
    }
  });

  it("leaves out equal rewards, whatever is right among them", async () => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      backend,
      evaluator: (_task, { rolloutIndex }) => ({ reward: 0.5, isCorrect: rolloutIndex % 2 === 0 }),
      set: { "rejection_sample.enable": true, "rejection_sample.max_batches": 1 },
    });
    const { runDir, status } = await trainer.train();
    expect([backend.updates.length, status]).toEqual([0, "untrained"]);
    expect(trainLines(runDir)[0]).toMatchObject({
      "rejection_sample/some_correct_fraction": 1,
      "rejection_sample/equal_rewards_fraction": 1,
    });
  });

  it.each([
    [null, "absent"],
    [0.5, "yes"],
  ])("rollout.solved_reward=%s says what is solved (%s)", async (solved, which) => {
    const { trainer, events } = coinTrainer({
      evaluator: graded,
      valDataset: coinTasks,
      set: { "rollout.solved_reward": solved, "rejection_sample.enable": true },
    });
    const { runDir, validation } = await trainer.train();
    const [first] = trainLines(runDir);
    const share = (line: Record<string, unknown>): number =>
      (Number(line["reward/mean"]) - 0.1) / 0.8;
    if (which === "absent") {
      expect(first).not.toHaveProperty("rollout/pass@1");
      expect(validation).not.toHaveProperty("val/pass@1");
    } else {
      expect(first?.["rollout/pass@1"]).toBeCloseTo(share(first ?? {}), 10);
      expect(Number(first?.["rejection_sample/some_correct_fraction"])).toBeGreaterThan(0);
      const mean = Number(validation?.["val/reward/mean"]);
      expect(validation?.["val/pass@1"]).toBeCloseTo((mean - 0.1) / 0.8, 10);
    }
    expect(warnings(events)).toEqual([]);
  });
});

class Guesser implements Agent {
  readonly chatCompletions: WireMessage[] = [];
  updateFromEnv(observation: unknown): void {
    this.chatCompletions.push({ role: "user", content: String(observation) });
  }
  updateFromModel(text: string): string {
    return text;
  }
}

/** Ends at once, and gives the same reward whatever was said. */
class Indifferent implements Environment {
  reset() {
    return { observation: "yes or no?" };
  }
  step() {
    return { observation: "over", reward: 0, done: true };
  }
}

/** Marks 0, and what the evaluator likes is told by the output alone. */
class Marking extends Workflow {
  async run(task: Task): Promise<string> {
    const agent = this.trajectory();
    const { content } = await agent.call([{ role: "user", content: task.instruction }]);
    agent.mark({ reward: 0 });
    return content;
  }
}

describe("an evaluator beside rollouts that give rewards themselves", () => {
  const saysYes = (_task: Task, { trajectories }: { trajectories: readonly unknown[] }): boolean =>
    JSON.stringify(trajectories).includes('"content":"yes"');
  const ways = [
    ["agent and env", { agentClass: Guesser, envClass: Indifferent }],
    ["a workflow that marks 0", { workflowClass: Marking }],
  ] as const;

  it.each(ways)("%s: its reward trains, and reward/mean is that reward", async (_, way) => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      ...({ agentFlow: undefined, ...way } as unknown as CoinTrainerOptions),
      backend,
      evaluator: saysYes,
    });
    const { runDir } = await trainer.train();
    expect(backend.updates.length).toBeGreaterThan(0);
    const { yes, no } = advantagesOf(backend);
    expect(yes.every((value) => value > 0)).toBe(true);
    expect(no.every((value) => value < 0)).toBe(true);
    const [first] = trainLines(runDir);
    const episodes = readLines(runDir, "episodes", "000001.jsonl") as unknown as {
      trajectories: { reward: number; steps: { trace: { response: { content: string } } }[] }[];
    }[];
    const said = episodes.map(({ trajectories: [own] }) => own?.steps[0]?.trace.response.content);
    const share = said.filter((text) => text === "yes").length / said.length;
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(1);
    expect(first?.["reward/mean"]).toBe(share);
    expect(first?.["episode/rollout_reward"]).toBe(0);
  });

  it.each(ways)("%s: rollout.reward_source=rollout trains the rollout's own", async (_, way) => {
    const backend = coinBackend();
    const { trainer, events } = coinTrainer({
      ...({ agentFlow: undefined, ...way } as unknown as CoinTrainerOptions),
      backend,
      evaluator: saysYes,
      set: { "rollout.reward_source": "rollout" },
    });
    const { runDir, status } = await trainer.train();
    // All rewards are 0, so there is nothing to learn; the evaluator's number is shown aside.
    expect([backend.updates.length, status]).toEqual([0, "untrained"]);
    const [first] = trainLines(runDir);
    expect(first?.["reward/mean"]).toBe(0);
    expect(first?.["episode/evaluator_reward"]).toBe(first?.["rollout/pass@1"]);
    expect(warnings(events).filter((text) => text.includes("reward_source"))).toEqual([]);
  });

  it.each([
    ["an agent flow", {}],
    ["no evaluator", { agentFlow: undefined, evaluator: undefined, workflowClass: Marking }],
  ])("reward_source without an effect is told: %s", async (_, way) => {
    const { trainer, events } = coinTrainer({
      ...(way as unknown as CoinTrainerOptions),
      set: { "rollout.reward_source": "rollout", "trainer.total_batches": 1 },
    });
    await trainer.train();
    expect(warnings(events)[0]).toContain("rollout.reward_source=rollout has no effect");
  });
});

/** Reads what the model says as a word of a protocol, and throws on anything else. */
async function strictAgent(task: Task, config: AgentConfig): Promise<string> {
  const text = await coinAgent(task, config);
  if (text !== "yes") throw new SyntaxError(`malformed: ${text}`);
  return text;
}

describe("an agent that throws on malformed output", () => {
  it.each([
    ["in turns", {}],
    ["overlapped", { "async_training.enable": true }],
  ])("learns not to produce it, %s, and validations count it", async (_, mode) => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      backend,
      agentFlow: strictAgent,
      evaluator: () => true,
      valDataset: coinTasks,
      set: {
        ...mode,
        "workflow.retry_limit": 2,
        "rollout.n_val": 8,
        "trainer.total_batches": 8,
        "trainer.keep_best": true,
      },
    });
    const { runDir, validation, best } = await trainer.train();
    // A coin of weight 0 says "yes" half of the time; survivors alone would show 1.
    const [before] = readLines(runDir, "metrics.jsonl");
    const episodes = readLines(runDir, "episodes", "val-000000.jsonl");
    const failed = episodes.filter((line) => line["terminationReason"] === "error").length;
    expect(failed).toBeGreaterThan(5);
    expect(before).toMatchObject({
      "val/reward/mean": 1 - failed / 40,
      "val/pass@1": 1 - failed / 40,
      "val/failed": failed,
    });
    expect(episodes.every((line) => line["attempts"] === 1)).toBe(true);
    const { yes, no } = advantagesOf(backend);
    expect(no.length).toBeGreaterThan(0);
    expect(yes.every((value) => value > 0)).toBe(true);
    expect(no.every((value) => value < 0)).toBe(true);
    expect(backend.weight).toBeGreaterThan(1);
    expect(validation?.["val/reward/mean"]).toBeGreaterThan(Number(before?.["val/reward/mean"]));
    expect(best?.value).toBe(validation?.["val/reward/mean"]);
    const [first] = trainLines(runDir);
    expect(first?.["reward/mean"]).toBe(1 - Number(first?.["rollout/failed"]) / 8);
  });

  it("is sampled away with rollout.retry_agent_errors, as it was before, but not in validations", async () => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      backend,
      agentFlow: strictAgent,
      evaluator: () => true,
      valDataset: coinTasks,
      set: {
        "workflow.retry_limit": 6,
        "rollout.retry_agent_errors": true,
        "rollout.n_val": 8,
        "trainer.total_batches": 1,
        "trainer.max_failed_fraction": 1,
      },
    });
    const { runDir, metrics, status } = await trainer.train();
    expect([backend.updates.length, status]).toEqual([0, "untrained"]);
    expect(metrics).toMatchObject({ "reward/mean": 1 });
    const [before] = readLines(runDir, "metrics.jsonl");
    expect(before?.["val/reward/mean"]).toBeLessThan(0.9);
  });

  it("scores failures with failure_reward, and says where failing would be rewarded", async () => {
    const { trainer, events } = coinTrainer({
      agentFlow: strictAgent,
      evaluator: () => -1,
      set: { "rollout.failure_reward": -0.5, "trainer.total_batches": 2 },
    });
    await trainer.train();
    const told = warnings(events).filter((text) => text.includes("failing is rewarded"));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain("rollout.failure_reward=-0.5, more than the -1");
  });

  it("goes on where every rollout of a step fails after the model has answered, and says so", async () => {
    const { trainer, events } = coinTrainer({
      agentFlow: async (task, config) => {
        await coinAgent(task, config);
        throw new RangeError("never good enough");
      },
      set: { "trainer.stop_when_nothing_learned": false },
    });
    const result = await trainer.train();
    expect(result).toMatchObject({ status: "untrained", steps: 4 });
    expect(result.message).toContain("in 4 of 4 steps every rollout failed");
    expect(warnings(events)).toEqual([
      "All 8 rollouts of step 1 failed. The last error: RangeError: never good enough",
    ]);
  });
});

it("counts what was cut off apart from what failed", async () => {
  const { trainer, events } = coinTrainer({
    agentFlow: () => {
      throw new Error("broken agent");
    },
    set: { "workflow.n_parallel_tasks": 1, "trainer.max_failed_fraction": 0.25 },
  });
  await expect(trainer.train()).rejects.toMatchObject({
    code: "TOO_MANY_FAILURES",
    message:
      "3 of 8 rollouts of step 1 failed, more than trainer.max_failed_fraction=0.25 allows. 5 others were cut off as a result. The last error: Error: broken agent",
    fields: { failed: 3, cutOff: 5, rollouts: 8 },
  });
  expect(events.at(-1)).toMatchObject({ type: "run-end", status: "failed" });
});

it("begins no further part of a validation that has failed", async () => {
  let started = 0;
  const { trainer } = coinTrainer({
    valDataset: coinTasks,
    agentFlow: () => {
      started++;
      throw new Error("broken agent");
    },
    set: { "data.val_batch_size": 1, "workflow.n_parallel_tasks": 1 },
  });
  await expect(trainer.train()).rejects.toMatchObject({
    message: expect.stringMatching(
      /^3 of 5 rollouts of the validation .* 2 others were/u,
    ) as string,
  });
  expect(started).toBe(3);
});

describe("endings of flows", () => {
  /** Every response is one token, of three, so all are cut. */
  const cut = { "rollout.train.max_tokens": 1, "trainer.total_batches": 1 };

  it.each(["agentFlow", "agentRunFunc"] as const)(
    "%s: mask_max_response_length_exceeded leaves out what was cut",
    async (way) => {
      const score = async (task: Task, config: AgentConfig): Promise<number> =>
        (await coinAgent(task, config)) === "y" ? 1 : 0;
      const parts =
        way === "agentFlow"
          ? { evaluator: (_task: Task, { output }: { output: unknown }) => output === "y" }
          : { agentFlow: undefined, evaluator: undefined, agentRunFunc: score };
      const run = async (set: Record<string, unknown>) => {
        const backend = coinBackend();
        const { trainer } = coinTrainer({
          ...(parts as unknown as CoinTrainerOptions),
          backend,
          set: { ...cut, ...set },
        });
        const result = await trainer.train();
        return { ...result, updates: backend.updates.length };
      };
      const masked = await run({
        "algorithm.excluded_reasons": ["max_response_length_exceeded"],
      });
      expect(masked).toMatchObject({ updates: 0, status: "untrained" });
      expect(masked.metrics).toMatchObject({
        "rollout/termination_fraction/max_response_length_exceeded": 1,
        "groups/dropped/excluded_episodes": 8,
        "train/skip_reason/excluded": 1,
      });
      // Without it, only the name of the ending differs.
      expect(await run({})).toMatchObject({ updates: 1, status: "completed" });
    },
  );

  it("excluding max_turns_exceeded works by TerminationEvent, and a notice says so", async () => {
    const { trainer, events } = coinTrainer({
      set: { "algorithm.excluded_reasons": ["max_turns_exceeded"], "trainer.total_batches": 1 },
    });
    await trainer.train();
    expect(warnings(events)).toContainEqual(
      expect.stringContaining(
        "max_turns_exceeded in algorithm.excluded_reasons has no limit on turns to work with",
      ),
    );
  });
});

describe("a run that learns nothing", () => {
  it("says why, in its result, its last event and every step", async () => {
    const outputDir = newFolder();
    const made = coinTrainer({ outputDir, evaluator: () => true });
    const result = await made.trainer.train();
    expect(result.status).toBe("untrained");
    expect(result.message).toMatch(
      /^Nothing was learned: in 4 of 4 steps the advantages were all 0, as with equal rewards in each group/u,
    );
    expect(made.events.at(-1)).toMatchObject({
      type: "run-end",
      status: "untrained",
      message: result.message,
    });
    for (const line of trainLines(result.runDir)) {
      expect(line).toMatchObject({
        "train/skip_reason/equal_rewards": 1,
        "rollout/unused": 8,
      });
    }
    // A later process that does nothing more does not call it learned.
    const again = coinTrainer({ outputDir, evaluator: () => true, resume: "auto" });
    expect(await again.trainer.train()).toMatchObject({ status: "untrained", steps: 4 });
  });

  it("is told as well where updates of nothing but zeros were made", async () => {
    const { trainer } = coinTrainer({
      evaluator: () => true,
      set: { "algorithm.filter_uniform_groups": false },
    });
    expect(await trainer.train()).toMatchObject({ status: "untrained" });
  });

  it.each([
    ["after three steps, where every rollout fails", 8, 3, "every rollout failed"],
    ["at its end, where it is shorter", 2, 2, "every rollout failed"],
    ["after three steps, where nothing is captured", 8, 3, "no rollout left anything to train on"],
  ])("ends %s, with an error and a checkpoint", async (_, total, steps, why) => {
    const outputDir = newFolder();
    const { trainer, events } = coinTrainer({
      outputDir,
      agentFlow: async (task, config) => {
        if (why.startsWith("no rollout")) return "an answer of another model";
        await coinAgent(task, config);
        throw new RangeError("never good enough");
      },
      set: { "trainer.total_batches": total },
    });
    await expect(trainer.train()).rejects.toMatchObject({
      code: "NOTHING_LEARNED",
      message: expect.stringContaining(`in ${steps} of ${steps} steps ${why}`) as string,
      hint: expect.stringContaining("trainer.stop_when_nothing_learned=false") as string,
    });
    expect(events.at(-1)).toMatchObject({ type: "run-end", status: "failed", step: steps });
    const again = coinTrainer({ outputDir, resume: "auto", set: { "trainer.total_batches": 4 } });
    expect(await again.trainer.train()).toMatchObject({ status: "completed", steps: 4 });
  });

  it("is not said of a run that learned before it was interrupted", async () => {
    const outputDir = newFolder();
    await coinTrainer({ outputDir, set: { "trainer.total_batches": 2 } }).trainer.train();
    const again = coinTrainer({
      outputDir,
      resume: "auto",
      evaluator: () => true,
      set: { "trainer.total_batches": 4 },
    });
    expect(await again.trainer.train()).toMatchObject({ status: "completed", steps: 4 });
  });

  it("is not said with a custom loss, but the line of each step says that advantages are all 0", async () => {
    let shown = "";
    const stream = { isTTY: false, write: (text: string) => void (shown += text) };
    const progress = createProgress({ stream, isQuiet: false, env: {} });
    const { trainer } = coinTrainer({
      backend: coinBackend({ capabilities: { forward: true }, onForward: () => {} }),
      evaluator: () => true,
      set: {
        "algorithm.filter_uniform_groups": false,
        algorithm: { loss: ({ logprob }: { logprob: number }) => 0.1 * logprob ** 2 },
        "trainer.total_batches": 2,
      },
      onEvent: (event) => progress.onEvent(event),
    });
    const { status, runDir } = await trainer.train();
    expect(status).toBe("completed");
    for (const line of trainLines(runDir)) expect(line["train/zero_advantages"]).toBe(1);
    expect(shown.match(/\(advantages all 0\)/gu)).toHaveLength(2);
  });
});

/** Says "no" at a cost, and "yes" for nothing; the trajectory's own number says the opposite. */
const stepReward = (content: string): number => (content === "yes" ? 0 : -1);
const wholeReward = (content: string): number => (content === "yes" ? -5 : 0);

class StepRewarded extends Workflow {
  async run(task: Task): Promise<string> {
    const agent = this.trajectory();
    const { content } = await agent.call([{ role: "user", content: task.instruction }]);
    agent.mark({ reward: stepReward(content) });
    agent.reward = wholeReward(content);
    return content;
  }
}

async function stepReporter(task: Task, config: AgentConfig) {
  const { responseId, content } = await callModel(config, config, [
    { role: "user", content: task.instruction },
  ]);
  const steps = [{ responseId, reward: stepReward(content) }];
  return [defineTrajectory({ name: "agent", reward: wholeReward(content), steps })];
}

const zero = (): number => 0;
const itself = { "rollout.reward_source": "rollout" };

describe("rewards of steps that are all 0 are rewards", () => {
  it.each([
    ["a flow", { agentFlow: stepReporter, evaluator: zero }, itself],
    ["a workflow", { agentFlow: undefined, workflowClass: StepRewarded }, {}],
    [
      "a flow, asynchronously",
      { agentFlow: stepReporter, evaluator: zero },
      { ...itself, "async_training.enable": true },
    ],
  ] as const)("per_step learns what they say: %s", async (_, way, mode) => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      ...({ evaluator: undefined, ...way } as unknown as CoinTrainerOptions),
      backend,
      set: { stepwise_advantage: { enable: true, mode: "per_step" }, ...mode },
    });
    await trainer.train();
    const { yes, no } = advantagesOf(backend);
    expect([yes.length > 0, no.length > 0]).toEqual([true, true]);
    expect([Math.min(...yes) >= 0, Math.max(...no) <= 0]).toEqual([true, true]);
  });

  const given = (during: number | undefined, atEnd: number | undefined): EnvironmentSource => ({
    name: "test",
    async *tasks() {
      yield* coinTasks;
    },
    open: async (task) => ({
      prompt: [{ role: "user", content: task.instruction }],
      tools: [],
      call: async () => ({ text: "" }),
      respond: async () => ({ text: "again", ...defined({ reward: during }) }),
      finish: async () => ({ text: "", ...defined({ reward: atEnd }) }),
      close: async () => {},
    }),
  });

  it.each([
    ["none while it plays, and its score at the end", undefined, 1, [undefined, undefined], 1],
    ["0 while it plays, and the rest at the end", 0, 1, [0, 1], 1],
    ["0 throughout", 0, undefined, [0, 0], 0],
  ])("an environment that gives %s", async (_, during, atEnd, steps, reward) => {
    const { trainer } = coinTrainer({
      ...({ agentFlow: undefined, evaluator: undefined, trainDataset: undefined } as object),
      env: given(during, atEnd),
      set: { "environment.max_turns": 2, "trainer.total_batches": 1 },
    });
    const { runDir } = await trainer.train();
    const [episode] = readLines(runDir, "episodes", "000001.jsonl") as unknown as Episode[];
    const [own] = episode?.trajectories ?? [];
    expect(own?.steps.map((step) => step.reward)).toEqual(steps);
    expect(own?.reward).toBe(reward);
  });
});
