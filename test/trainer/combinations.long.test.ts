/**
 * Options taken at random, together: a run either refuses them at its start, by name, or it trains
 * every step with finite numbers, and stopped after its second step it continues bit by bit.
 * `SOAK=1` tries hundreds; `COMBINATION=17` one.
 */
import { describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import type { AgentConfig } from "../../src/core/agent.ts";
import { ConfigError } from "../../src/core/errors.ts";
import { defineTrajectory } from "../../src/core/report.ts";
import type { Task } from "../../src/core/task.ts";
import { createRandom } from "../../src/util/random.ts";
import {
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";

type Options = Readonly<Record<string, unknown>>;

/** Values of each option beside its default. */
const axes: readonly (readonly Options[])[] = [
  [
    { "algorithm.estimator": "rloo" },
    { "algorithm.estimator": "reinforce" },
    { "algorithm.estimator": "reinforce_plus_plus" },
    { "algorithm.estimator": { type: "gdpo", weights: { length: 1, reward: 0.5 } } },
    { "algorithm.estimator": "gae" },
    { "algorithm.estimator_by_role": { judge: "reinforce", solver: "grpo" } },
  ],
  ["importance_sampling", "cispo", "gspo", "gmpo", "sapo", "dro", "cross_entropy"].map((loss) => ({
    "algorithm.loss": loss,
  })),
  [
    { "algorithm.aggregation": "seq-mean-token-mean" },
    { "algorithm.aggregation": "seq-mean-token-sum-norm" },
  ],
  [{ "algorithm.loss_by_role": { judge: "ppo", solver: "cispo" } }],
  [{ "algorithm.kl_beta": 0.01 }, { "algorithm.use_kl_in_reward": true }],
  [{ "algorithm.entropy_coef": 0.01 }],
  [{ "algorithm.observation_loss": { user: 0.05 } }],
  [{ "algorithm.overlong_buffer": { enable: true, len: 2, max_length: 6 } }],
  [{ "algorithm.mask_truncated_samples": true }],
  [{ "algorithm.filter_uniform_groups": false }],
  [
    { "algorithm.rollout_correction.weights": "token" },
    { "algorithm.rollout_correction.weights": "sequence" },
    { "algorithm.rollout_correction.weights": "recompute" },
  ],
  [{ "stepwise_advantage.enable": true, "stepwise_advantage.mode": "per_step" }],
  [
    { "distillation.teacher": "self", "distillation.hint": "answer" },
    {
      "distillation.teacher": "self",
      "distillation.hint": "answer",
      "distillation.use_reward": true,
    },
    { "distillation.teacher": "builtin:shop-tiny" },
  ],
  [
    { "model.adapter_by_role": { solver: "solver", judge: "judge" } },
    { "model.adapter_by_role": { solver: "solver", judge: "none" } },
  ],
  [{ "rollout.untrained_roles": ["judge"] }],
  [{ "rollout.train.temperature": 0.7, "algorithm.logprob_temperature": "one" }],
  [{ "model.lora_rank": 0 }, { "model.quantization": "int8" }],
  [{ "training.num_minibatches": 2 }, { "training.ppo_epochs": 2 }],
  [{ "data.curriculum": "solve_rate" }, { "data.curriculum": "easy_first" }],
  [{ "rejection_sample.enable": true }],
  [{ "async_training.enable": true }],
  [{ "guards.kl": 10, "guards.action": "skip" }],
  [{ "trainer.test_freq": 1 }],
];

function combination(seed: number): Options {
  const random = createRandom(seed);
  const taken = axes.flatMap((values) =>
    random() < 0.3 ? [values[Math.floor(random() * values.length)]!] : [],
  );
  return Object.assign({}, ...taken) as Options;
}

async function say(handle: AgentConfig, model: string, first: string): Promise<string> {
  const messages = [{ role: "user", content: first }];
  for (let turn = 0; turn < 2; turn++) {
    const response = await fetch(`${handle.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${handle.apiKey}` },
      body: JSON.stringify({ model, messages, max_tokens: 3 + (first.length % 5), stop: ["e"] }),
    });
    if (!response.ok) throw new Error(await response.text());
    const body = (await response.json()) as { choices: { message: { content: string } }[] };
    messages.push({ role: "assistant", content: body.choices[0]!.message.content });
    messages.push({ role: "user", content: "What else?" });
  }
  return messages.at(-2)!.content;
}

/** A solver and a judge of two calls each. */
async function agentRunFunc(task: Task, config: AgentConfig): Promise<unknown> {
  return Promise.all(
    ["solver", "judge"].map(async (role) => {
      const handle = config.trajectory(role);
      const text = await say(handle as never, config.model, `${role}: ${task.instruction}`);
      const length = text.length % 5;
      const reward = length > 2 ? 1 : 0;
      return defineTrajectory({ name: role, uid: handle.uid, reward, signals: { length } });
    }),
  );
}

const tasks = ["a", "b", "c", "d"].map((id, i) => ({
  id,
  instruction: `Say ${id}.`,
  metadata: { answer: id.repeat(3), difficulty: i },
}));

const steps = 3;

async function run(set: Options, more: CoinTrainerOptions = {}) {
  await using backend = createLocalBackend({ threads: 1 });
  const { trainer } = coinTrainer({
    agentFlow: undefined as never,
    evaluator: undefined as never,
    agentRunFunc: agentRunFunc as never,
    trainDataset: tasks,
    valDataset: set["trainer.test_freq"] === 1 ? tasks.slice(0, 2) : undefined,
    backend,
    ...more,
    set: {
      "model.name": "builtin:shop-tiny",
      "model.lora_rank": 4,
      "rollout.n": 2,
      "rollout.train.max_tokens": 6,
      "training.learning_rate": 1e-3,
      "trainer.total_batches": steps,
      "trainer.save_freq": 1,
      ...set,
    },
  } as CoinTrainerOptions);
  const { runDir } = await trainer.train();
  return readLines(runDir, "metrics.jsonl").map((line) => {
    // What is sampled past a stop sequence before the sampler hears of it depends on the clock.
    const { "engine/sampled_tokens": _, ...rest } = withoutClock(line);
    return rest;
  });
}

function notFinite(lines: readonly Options[]): string[] {
  return lines.flatMap((line) =>
    Object.entries(line).flatMap(([key, value]) =>
      value === null || typeof value === "string" || Number.isFinite(value) || key === "phase"
        ? []
        : [`${key}=${JSON.stringify(value)}`],
    ),
  );
}

/** `refused`, or what was trained. */
async function expectTrainedOrRefused(set: Options): Promise<"refused" | "trained"> {
  let lines: Options[];
  try {
    lines = await run(set);
  } catch (error) {
    expect(error, JSON.stringify(set)).toBeInstanceOf(ConfigError);
    const names = Object.keys(set).filter((key) => (error as Error).message.includes(key));
    expect(names, (error as Error).message).not.toEqual([]);
    return "refused";
  }
  expect(lines.filter(({ phase }) => phase === "train")).toHaveLength(steps);
  expect(notFinite(lines)).toEqual([]);
  if (set["async_training.enable"] === true) return "trained";
  const outputDir = newFolder();
  const controller = new AbortController();
  await run(set, {
    outputDir,
    signal: controller.signal,
    onEvent: ({ type, step }) => {
      if (type === "step-end" && step === 2) controller.abort();
    },
  });
  expect(await run(set, { outputDir, resume: "auto" })).toEqual(lines);
  return "trained";
}

const chosen = process.env["COMBINATION"];
const count = process.env["SOAK"] === undefined ? 6 : 300;
const seeds = chosen === undefined ? Array.from({ length: count }, (_, i) => i) : [Number(chosen)];

describe("options together", () => {
  it.each(seeds)(
    "%i are refused by name, or train and resume",
    async (seed) => {
      const set = combination(seed);
      const outcome = await expectTrainedOrRefused(set);
      if (chosen !== undefined) console.log(outcome, JSON.stringify(set));
    },
    120_000,
  );
});
