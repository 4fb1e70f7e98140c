/** Several signals, observations and the averaged policy as its own teacher on the embedded engine: resumed bit by bit, and asynchronously. */
import { describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
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

const tasks = ["a", "b", "c"].map((id) => ({
  id,
  instruction: `Say ${id}.`,
  metadata: { answer: id.repeat(3) },
}));

const options: CoinTrainerOptions = {
  agentFlow,
  trainDataset: tasks,
  evaluator: ((_: Task, { output, rolloutIndex }: { output: string; rolloutIndex: number }) => ({
    reward: 0,
    isCorrect: null,
    signals: [
      { name: "length", value: output.length },
      { name: "order", value: rolloutIndex },
    ],
  })) as never,
  set: {
    "model.name": "builtin:shop-tiny",
    "model.lora_rank": 4,
    "rollout.n": 2,
    "rollout.train.max_tokens": 6,
    "training.learning_rate": 1e-3,
    "trainer.total_batches": 4,
    "trainer.save_freq": 1,
    "algorithm.estimator": { type: "gdpo", weights: { length: 1, order: 0.5 } },
    "algorithm.observation_loss": { user: 0.05 },
    "distillation.teacher": "self",
    "distillation.hint": "answer",
    "distillation.divergence": "forward",
    "distillation.use_reward": true,
    "distillation.clip": 2,
  },
};

async function run(more: CoinTrainerOptions = {}) {
  await using backend = createLocalBackend({ threads: 1 });
  const set = { ...options.set, ...more.set };
  const { trainer } = coinTrainer({ ...options, ...more, set, backend });
  const { runDir } = await trainer.train();
  return readLines(runDir, "metrics.jsonl").map(withoutClock);
}

const steps = (lines: readonly Readonly<Record<string, unknown>>[]) =>
  lines.filter(({ phase }) => phase === "train");

describe("several signals, observations and a hint for the policy as its own teacher", () => {
  it("continue bit by bit after a run was stopped", async () => {
    const whole = await run();
    expect(steps(whole)).toHaveLength(4);
    for (const step of steps(whole)) {
      expect(step).toMatchObject({
        "signals/agent/order/missing": 0,
        "distillation/unhinted_rows": 0,
        "rows/unmatched_observations": 0,
      });
      expect(step["train/observation_tokens"]).toBe(step["rows/observed_tokens"]);
    }
    const outputDir = newFolder();
    const controller = new AbortController();
    await run({
      outputDir,
      signal: controller.signal,
      onEvent: ({ type, step }) => {
        if (type === "step-end" && step === 2) controller.abort();
      },
    });
    expect(await run({ outputDir, resume: "auto" })).toEqual(whole);
  }, 120_000);

  it("train asynchronously", async () => {
    const lines = await run({ set: { "async_training.enable": true } });
    expect(steps(lines)).toHaveLength(4);
    for (const step of steps(lines)) expect(step["train/observation_loss"]).toBeGreaterThan(0);
  }, 120_000);
});
