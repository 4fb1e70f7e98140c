/** A critic on the embedded engine: one rollout per task, a warm-up, resumed bit by bit, and with everything else that changes rewards. */
import { describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import type { Task } from "../../src/core/task.ts";
import { coinBackend } from "./coin-backend.ts";
import {
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";

/** Two calls, of which the second has an answer to the first. */
async function agentFlow(task: Task, config: AgentConfig): Promise<string> {
  const messages = [{ role: "user", content: task.instruction }];
  for (let turn = 0; turn < 2; turn++) {
    const response = await fetch(`${config.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${config.apiKey}` },
      body: JSON.stringify({ model: config.model, messages }),
      signal: config.signal,
    });
    const body = (await response.json()) as { choices: { message: { content: string } }[] };
    const content = body.choices[0]!.message.content;
    messages.push({ role: "assistant", content }, { role: "user", content: "What else?" });
  }
  return messages.at(-2)!.content;
}

const options: CoinTrainerOptions = {
  agentFlow,
  trainDataset: ["a", "b", "c"].map((id) => ({ id, instruction: `Say ${id}.`, metadata: {} })),
  evaluator: ((_: Task, { output }: { output: string }) => output.length % 3) as never,
  set: {
    "model.name": "builtin:shop-tiny",
    "model.lora_rank": 4,
    "rollout.n": 1,
    "rollout.train.max_tokens": 6,
    "training.learning_rate": 1e-3,
    "trainer.total_batches": 4,
    "trainer.save_freq": 1,
    "algorithm.estimator": { type: "gae", lambda: 0.9, gamma: 0.99, critic_warmup: 1 },
  },
};
const everything = {
  "algorithm.use_kl_in_reward": true,
  "algorithm.kl_beta": 0.01,
  "algorithm.entropy_coef": 0.001,
  "algorithm.rollout_correction": { type: "token", reject: ["token_k1=0.5_2.0"] },
  "algorithm.overlong_buffer": { enable: true, len: 3 },
  "algorithm.observation_loss": { user: 0.05 },
  // Computed by the trainer.
  "algorithm.loss_by_role": { agent: "cispo" },
  "training.num_minibatches": 2,
  "training.ppo_epochs": 2,
  "stepwise_advantage.enable": true,
  "stepwise_advantage.mode": "per_step",
  "rejection_sample.enable": true,
};

async function run(more: CoinTrainerOptions = {}) {
  const events: TrainerEvent[] = [];
  await using backend = createLocalBackend({ threads: 1 });
  const set = { ...options.set, ...more.set };
  const { trainer } = coinTrainer({
    ...options,
    ...more,
    set,
    backend,
    onEvent: (event: TrainerEvent) => {
      events.push(event);
      more.onEvent?.(event);
    },
  });
  const { runDir } = await trainer.train();
  const lines = readLines(runDir, "metrics.jsonl").map(withoutClock);
  return { steps: lines.filter(({ phase }) => phase === "train"), lines, events };
}

describe("a critic with one rollout per task", () => {
  it.each([
    ["alone", {}],
    ["with all that changes rewards, rows and losses", everything],
  ])(
    "continues bit by bit after a run was stopped, %s",
    async (_, set) => {
      const whole = await run({ set });
      expect(whole.steps).toHaveLength(4);
      const [first, ...rest] = whole.steps;
      expect(first).toMatchObject({ "train/critic_warmup": 1, "critic/values/std": 0 });
      expect(first).not.toHaveProperty("train/loss");
      for (const step of rest) {
        expect(step).not.toHaveProperty("train/critic_warmup");
        expect(step["train/grad_norm"]).toBeGreaterThan(0);
        expect(step["critic/values/std"]).toBeGreaterThan(0);
        expect(step["train/skipped_steps"]).toBe(0);
      }
      const outputDir = newFolder();
      const controller = new AbortController();
      await run({
        set,
        outputDir,
        signal: controller.signal,
        onEvent: ({ type, step }) => {
          if (type === "step-end" && step === 2) controller.abort();
        },
      });
      expect((await run({ set, outputDir, resume: "auto" })).lines).toEqual(whole.lines);
    },
    120_000,
  );

  it("does not change the policy while only the critic learns", async () => {
    const set = { "algorithm.estimator": { type: "gae", critic_warmup: 3 }, "trainer.seed": 3 };
    const { steps } = await run({ set });
    // Log-probabilities of what was sampled are those of the first weights.
    expect(steps.slice(0, 3).every((step) => step["train/critic_warmup"] === 1)).toBe(true);
    expect(steps[3]?.["train/kl_k3"]).toBe(0);
    expect(steps[3]?.["train/ratio_max"]).toBe(1);
  }, 120_000);

  it("subtracts each token's KL from its own reward", async () => {
    const { steps } = await run({
      evaluator: () => 1,
      set: {
        "algorithm.use_kl_in_reward": true,
        "algorithm.kl_penalty": "k2",
        "algorithm.kl_ctrl.kl_coef": 10,
        "algorithm.estimator": { type: "gae" },
        // Something else moves the policy while advantages are equal.
        "algorithm.entropy_coef": 0.5,
        "training.learning_rate": 0.01,
      },
    });
    // The evaluator's reward is 1; what is left of it depends on how much of a rollout is still to come.
    expect(steps[0]).toMatchObject({ "critic/returns/min": 1, "critic/returns/max": 1 });
    for (const step of steps.slice(1)) {
      expect(step["shaping/reward_kl_penalty"]).toBeGreaterThan(0);
      expect(step["critic/returns/min"]).toBeLessThan(step["critic/returns/max"] as number);
      expect(step["critic/returns/max"]).toBeLessThanOrEqual(1);
      expect(step["reward/agent/mean"]).toBe(1);
    }
  }, 120_000);

  it("trains asynchronously", async () => {
    const { steps, events } = await run({ set: { "async_training.enable": true } });
    expect(steps).toHaveLength(4);
    for (const step of steps) expect(step["train/value_loss"]).toBeGreaterThan(0);
    expect(events.filter(({ type }) => type === "warning")).toEqual([]);
  }, 120_000);
});

describe("gae is refused", () => {
  it("on a backend without a critic, before anything starts", () => {
    const set = { "algorithm.estimator.type": "gae" };
    expect(() => coinTrainer({ backend: coinBackend(), set })).toThrow(
      'The backend "coin" does not support algorithm.estimator.type="gae". Backends that support it: local, verl.',
    );
  });

  it.each([
    ["normalize_by_steps=true", "gives each token its own"],
    ["gamma=0.9", "Set algorithm.estimator.gamma instead"],
  ])("with stepwise_advantage.%s", (option, message) => {
    const overrides = [
      ...["model.name=m", "algorithm.estimator=gae", "stepwise_advantage.enable=true"],
      ...["stepwise_advantage.mode=per_step", `stepwise_advantage.${option}`],
    ];
    expect(() => loadConfig({ overrides })).toThrow(message);
  });

  it("for a single role", () => {
    const overrides = ["model.name=m", "algorithm.estimator_by_role={judge: gae}"];
    expect(() => loadConfig({ overrides })).toThrow("estimator_by_role");
  });
});
