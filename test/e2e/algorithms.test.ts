import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AgentTrainer,
  type TrainOptions,
  type Episode,
  type Evaluator,
  type Task,
} from "agent-trainer";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SharedBackend, shareBackend } from "./shared-backend.ts";

// Asked for a price without tools, the built-in model answers with one of two tool calls or with a
// number, each about a third of the time. The number is what is rewarded here.
const tasks: Task[] = ["lamps", "chairs", "mugs", "plates"].map((item, i) => ({
  id: `task-${i}`,
  instruction: `How much do ${i + 2} ${item} cost?`,
  metadata: {},
}));

async function agentFlow(task: Task, config: { baseUrl: string; apiKey: string; model: string }) {
  const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: task.instruction }];
  const completion = await client.chat.completions.create({ model: config.model, messages });
  return completion.choices[0]?.message.content ?? "";
}

const estimators = [
  "grpo",
  "reinforce",
  "rloo",
  "reinforce_plus_plus",
  "reinforce_plus_plus_baseline",
  "prpo",
  "opo",
  "gpg",
  "maxrl",
  "grpo_passk",
];
const losses = ["importance_sampling", "ppo", "cispo", "gspo", "gmpo", "sapo", "dro"];

const aggregations = [
  "token-mean",
  "token-sum",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
  "seq-mean-token-sum-norm",
];
/** What may be added to any of them. */
const additions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "Dr. GRPO": { "algorithm.estimator.norm_by_std": false },
  "clip-higher and a dual clip": {
    "algorithm.loss.eps_clip_high": 0.28,
    "algorithm.loss.clip_ratio_c": 3,
  },
  "KL in the loss": { "algorithm.kl_beta": 0.01, "algorithm.kl_estimator": "k3" },
  "KL in the reward": { "algorithm.use_kl_in_reward": true },
  "an entropy bonus": { "algorithm.entropy_coef": 0.001 },
  "truncated importance weights": { "algorithm.rollout_correction": "token" },
  "sequence weights, masked and normalised": {
    "algorithm.rollout_correction": {
      type: "sequence",
      cap: "0.5_2",
      batch_normalize: true,
    },
  },
  "rejection and a veto": {
    "algorithm.rollout_correction": {
      reject: { token_k1: "0.5_2", seq_mean_k3: 0.1 },
      rollout_token_veto_threshold: 1e-4,
    },
  },
  "advantages of steps": { stepwise_advantage: { enable: true, mode: "per_step" } },
  "an overlong penalty": {
    "algorithm.overlong_buffer": { enable: true, len: 2, penalty_factor: 0.1 },
  },
  "a schedule with warm-up": {
    "training.lr_schedule": "cosine",
    "training.lr_schedule.warmup": 0.25,
    "training.lr_schedule.min_ratio": 0.1,
  },
};

let backend: SharedBackend;
let folder: string;
/** Share of right answers of the weights that every run begins with. */
let before: number;

beforeAll(async () => {
  backend = await shareBackend("builtin:shop-tiny");
  folder = await mkdtemp(join(tmpdir(), "agent-trainer-algorithms-"));
  before = (await train({ "training.learning_rate": 0, "trainer.total_batches": 1 })).after;
});
afterAll(async () => {
  await backend[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const isRight = ({ output }: Episode): boolean => /^\d/.test(String(output));

type Metrics = Readonly<Record<string, number>>;

/** Share of right answers after a short run, to the same questions with the same seeds. */
async function train(
  set: Readonly<Record<string, unknown>>,
  evaluator: Evaluator = (_, episode) => isRight(episode),
  algorithm: TrainOptions["algorithm"] = {},
): Promise<{ after: number; metrics: Metrics; steps: readonly Metrics[] }> {
  let after = NaN;
  const steps: Metrics[] = [];
  const trainer = new AgentTrainer({
    backend: backend.next(),
    agentFlow,
    evaluator,
    trainDataset: tasks,
    valDataset: tasks,
    config: {
      "model.name": "builtin:shop-tiny",
      "data.train_batch_size": tasks.length,
      "rollout.n": 8,
      "rollout.n_val": 8,
      "rollout.train.max_tokens": 3,
      "rollout.val.max_tokens": 3,
      "training.learning_rate": 1e-3,
      // The second pass has ratios that are not 1.
      "training.ppo_epochs": 2,
      "trainer.total_batches": 4,
      "trainer.val_before_train": false,
      "trainer.output_dir": folder,
      algorithm,
      ...set,
    },
    onEvent(event) {
      if (event.type === "step-end") steps.push(event.metrics);
      if (event.type !== "validation-end") return;
      after = event.episodes.filter(isRight).length / event.episodes.length;
    },
  });
  const { metrics } = await trainer.train();
  return { after, metrics: metrics ?? {}, steps };
}

const learnt = (): number => before + 0.25;

it("begins with a policy that seldom answers with a number", () => {
  expect(before).toBeGreaterThan(0.05);
  expect(before).toBeLessThan(0.4);
});

/** An estimator and a loss do not know each other: pairs that have each of both. `SOAK=1` tries all pairs. */
const lossesWith = (estimator: string): readonly string[] =>
  process.env["SOAK"] === undefined
    ? [losses[estimators.indexOf(estimator) % losses.length]!]
    : losses;

describe.each(estimators)("%s", (estimator) => {
  it.each(lossesWith(estimator))("raises the reward with %s", async (loss) => {
    const { after } = await train({
      "algorithm.estimator": estimator,
      "algorithm.loss": loss,
    });
    expect(after).toBeGreaterThan(learnt());
  });
});

describe("grpo and ppo", () => {
  it.each(aggregations)("raise the reward with %s", async (aggregation) => {
    const { after } = await train({ "algorithm.aggregation": aggregation });
    expect(after).toBeGreaterThan(learnt());
  });
  it.each(Object.entries(additions))("raise it with %s", async (_, set) => {
    const { after, metrics } = await train(set);
    expect(after).toBeGreaterThan(learnt());
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
  });
});

describe("losses that no backend has", () => {
  const right: Evaluator = (_, episode) => isRight(episode);
  it("raise the reward as a formula of the user", async () => {
    const { after, steps } = await train({}, right, {
      loss: ({ logprob, samplingLogprob, advantage }) =>
        -Math.exp(logprob - samplingLogprob) * advantage + 0.05 * (logprob - samplingLogprob) ** 2,
    });
    expect(after).toBeGreaterThan(learnt());
    // The second pass of a step begins where the first one led.
    expect(steps[0]?.["train/logprob_abs_diff_mean"]).toBeGreaterThan(1e-3);
  });
  it("raise it where a role has its own", async () => {
    const { after, steps } = await train({ "algorithm.loss_by_role": { agent: "gspo" } });
    expect(after).toBeGreaterThan(learnt());
    // Ratios of rows are clipped all at once.
    expect(steps[0]?.["train/clip_fraction"]).toBeGreaterThan(0);
  });
});

describe("a policy that cannot learn does not", () => {
  it("grpo with a learning rate of 0", async () => {
    const { after } = await train({ "training.learning_rate": 0 });
    expect(after).toBe(before);
  });
  it.each(["grpo", "rloo", "reinforce_plus_plus"])("%s with random rewards", async (estimator) => {
    // A function of the rollout alone, whatever the answer was.
    const dice = ({ id }: Episode): number =>
      createHash("sha256").update(id).digest().readUInt32LE() / 2 ** 32;
    const { after } = await train({ "algorithm.estimator": estimator }, (_, episode) =>
      dice(episode),
    );
    expect(after).toBeLessThan(learnt());
  });
  it("grpo with the same reward for everything", async () => {
    const { after, metrics } = await train({}, () => 1);
    expect(after).toBe(before);
    expect(metrics["train/skipped_steps"]).toBe(1);
  });
});
