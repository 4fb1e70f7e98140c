/** GRPO through our gateway on real verl: learns, is killed, goes on. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { VerlBackend } from "../../../src/backends/verl/index.ts";
import { defaultOptim } from "../../../src/core/loss/loss.ts";
import type { Task } from "../../../src/core/task.ts";
import type { Episode } from "../../../src/core/trajectory.ts";
import { AgentTrainer } from "../../../src/launch/agent-trainer.ts";
import { delay } from "../../../src/util/abort.ts";
import { coinAgent, coinTasks, readLines } from "../../trainer/coin-run.ts";
import { areAlive, descendants } from "./processes.ts";
import { modelFolder, verlOnCpu } from "./verl-on-cpu.ts";

const steps = 22;
const optim = { ...defaultOptim, learningRate: 1e-2 };
const maxTokens = 6;

/** Share of the characters that are vowels. */
function letters(_task: Task, { output }: Episode): number {
  const text = String(output);
  return text.length === 0 ? 0 : text.replaceAll(/[^aeiou]/gu, "").length / text.length;
}

const backends: VerlBackend[] = [];
afterEach(async () => {
  await Promise.all(backends.splice(0).map((backend) => backend[Symbol.asyncDispose]()));
});

function trainer(outputDir: string, options: { readonly resume?: "auto" } = {}): AgentTrainer {
  const run = { optim, batchSize: 4, groupSize: 8, temperature: 1, topP: 1, topK: 0, maxTokens };
  const backend = verlOnCpu(run);
  backends.push(backend);
  return new AgentTrainer({
    backend,
    agentFlow: coinAgent,
    evaluator: letters,
    trainDataset: coinTasks,
    ...options,
    config: {
      "model.name": modelFolder(),
      "data.train_batch_size": run.batchSize,
      "rollout.n": run.groupSize,
      "rollout.train.max_tokens": maxTokens,
      "training.learning_rate": optim.learningRate,
      "algorithm.rollout_correction": "token",
      "trainer.total_batches": steps,
      "trainer.save_freq": 10,
      "trainer.output_dir": outputDir,
      "trainer.experiment_name": "letters",
      "workflow.retry_limit": 0,
    },
  });
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

it(
  "learns in 20 steps, is killed in the 21st update, and goes on",
  { timeout: 1_200_000 },
  async () => {
    const outputDir = mkdtempSync(join(tmpdir(), "agent-trainer-verl-"));
    const first = trainer(outputDir);
    const [backend] = backends as [VerlBackend];
    let updates = 0;
    const started: number[] = [];
    const update = backend.updatePolicy.bind(backend);
    backend.updatePolicy = async (...given) => {
      if (++updates === 21) {
        const bridge = backend.pid as number;
        started.push(bridge, ...descendants(bridge));
        setTimeout(() => process.kill(bridge, "SIGKILL"), 100);
      }
      return update(...given);
    };
    await expect(first.train()).rejects.toMatchObject({ code: "VERL_FAILED", reason: "lost" });

    if (process.platform === "linux") {
      // Ray's own, two workers and two servers end by themselves once the bridge is gone.
      expect(started.length).toBeGreaterThan(5);
      for (let left = 60; left > 0 && areAlive(started).length > 0; left--) await delay(1_000);
      expect(areAlive(started)).toEqual([]);
    }

    const result = await trainer(outputDir, { resume: "auto" }).train();
    expect(result).toMatchObject({ status: "completed", steps });
    const lines = readLines(outputDir, "letters", "metrics.jsonl");
    expect(lines.map((line) => line["step"])).toEqual(
      Array.from({ length: steps }, (_, i) => i + 1),
    );
    expect(lines.map((line) => line["weight_version"])).toEqual(lines.map((line) => line["step"]));
    const rewards = lines.map((line) => line["reward/mean"] as number);
    console.warn(`rewards: ${rewards.map((reward) => reward.toFixed(2)).join(" ")}`);
    expect(mean(rewards.slice(15, 20))).toBeGreaterThan(mean(rewards.slice(0, 5)) + 0.1);
    // Weights and moments came back: the reward goes on from where it was.
    expect(mean(rewards.slice(20))).toBeGreaterThan(mean(rewards.slice(0, 5)) + 0.1);
    for (const line of lines) {
      // Two ranks, and weights that arrive as they were trained.
      expect(line["train/ranks/rows"]).toBeGreaterThan(0);
      expect(Math.abs(line["train/kl_k1"] as number)).toBeLessThan(1e-3);
      // Computed once more before the update, for the correction.
      expect(Math.abs(line["off_policy/kl_k1"] as number)).toBeLessThan(1e-3);
    }
  },
);
