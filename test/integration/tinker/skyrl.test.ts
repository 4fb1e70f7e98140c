/** Our client and backend against a real server of others: SkyRL's, on the CPU. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalBackend } from "../../../src/backends/local/index.ts";
import { createTinkerBackend, type TinkerBackend } from "../../../src/backends/tinker/index.ts";
import type { AgentConfig } from "../../../src/core/agent.ts";
import { defaultLoss, defaultOptim, type LossSpec } from "../../../src/core/loss/loss.ts";
import type { Task } from "../../../src/core/task.ts";
import type { Episode } from "../../../src/core/trajectory.ts";
import { AgentTrainer } from "../../../src/launch/agent-trainer.ts";
import { rowOf } from "../../engine/small-model.ts";
import { modelFolder, startSkyrl, type SkyrlServer } from "./skyrl-server.ts";

let skyrl: SkyrlServer;
beforeAll(async () => {
  skyrl = await startSkyrl(8462);
});
afterAll(async () => {
  await skyrl?.[Symbol.asyncDispose]();
});

function viaSkyrl(snapshots: "live" | "probe" = "live"): TinkerBackend {
  // SkyRL does not say how long its model's context is.
  const server = { baseUrl: skyrl.url, apiKey: "tml-dummy", contextLength: 512 };
  return createTinkerBackend({ ...server, snapshots });
}

const context = {
  seed: 1,
  model: { name: modelFolder(), lora: { rank: 8, alpha: 32 } },
  signal: new AbortController().signal,
};

const row = rowOf(
  Int32Array.from({ length: 30 }, (_, i) => (i * 37 + 5) % 500),
  1,
);
const other = rowOf(
  Int32Array.from({ length: 19 }, (_, i) => (i * 11 + 3) % 500),
  1,
);

it("computes the log-probabilities that our engine computes", async () => {
  await using backend = viaSkyrl();
  await backend.start(context);
  await using ours = createLocalBackend({ threads: 1, precision: "f32" });
  await ours.start(context);
  const [theirs] = await backend.forward([row], "current");
  const [expected] = await ours.forward([row]);
  for (const [i, value] of expected!.entries())
    expect(Math.abs(theirs![i]! - value)).toBeLessThan(0.02);
});

it("sums over tokens and sequences, though the server takes means of both", async () => {
  await using backend = viaSkyrl();
  await backend.start(context);
  const loss: LossSpec = {
    ...defaultLoss,
    name: "importance_sampling",
    aggregation: "token-sum",
  };
  const still = { ...defaultOptim, learningRate: 0 };
  const norm = async (...rows: (typeof row)[]): Promise<number> => {
    const metrics = await backend.updatePolicy(rows, loss, still);
    return metrics["grad_norm"]!;
  };
  const single = await norm(row);
  expect(single).toBeGreaterThan(0);
  expect((await norm(row, row)) / single).toBeCloseTo(2, 2);
  expect((await norm(row, row, row)) / single).toBeCloseTo(3, 2);
  const doubled = { ...row, advantages: row.advantages.map((a) => 2 * a) };
  expect((await norm(doubled)) / single).toBeCloseTo(2, 2);
  // Sequences of different lengths weigh by their tokens: g(row) + g(other) - g(other) = g(row).
  const negative = { ...other, advantages: other.advantages.map((a) => -a) };
  expect((await norm(row, other, negative)) / single).toBeCloseTo(1, 2);
});

it("is refused where it is not said that its snapshots follow the trained weights", async () => {
  await using backend = viaSkyrl("probe");
  await backend.start(context);
  const loss: LossSpec = { ...defaultLoss, name: "importance_sampling" };
  await backend.updatePolicy([row], loss, { ...defaultOptim, learningRate: 0.02 });
  const published = backend.publishWeights();
  await expect(published).rejects.toMatchObject({ name: "TinkerLiveSnapshotError" });
});

/** Share of what was said that is a small letter. */
function evaluator(_task: Task, { output }: Episode): number {
  const text = String(output);
  return text === "" ? 0 : [...text].filter((char) => /[a-z]/u.test(char)).length / text.length;
}

async function agent(task: Task, config: AgentConfig): Promise<string> {
  const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey, maxRetries: 0 });
  const { choices } = await client.chat.completions.create({
    model: config.model,
    messages: [{ role: "user", content: task.instruction }],
  });
  return choices[0]?.message.content ?? "";
}

interface Line {
  readonly step: number;
  readonly "reward/mean": number;
}

async function train(steps: number, resume?: string): Promise<{ runDir: string; lines: Line[] }> {
  await using backend = viaSkyrl();
  const trainer = new AgentTrainer({
    backend,
    agentFlow: agent,
    evaluator,
    trainDataset: [{ id: "1", instruction: "Talk." }],
    ...(resume === undefined ? {} : { resume }),
    config: {
      "model.name": context.model.name,
      "model.lora_rank": 8,
      "data.train_batch_size": 1,
      "rollout.n": 32,
      "rollout.train.max_tokens": 4,
      "training.learning_rate": 0.02,
      "trainer.total_batches": steps,
      "trainer.save_freq": 3,
      "trainer.seed": 3,
      ...(resume === undefined
        ? { "trainer.output_dir": mkdtempSync(join(tmpdir(), "skyrl-run-")) }
        : {}),
    },
  });
  const { runDir } = await trainer.train();
  const lines = readFileSync(join(runDir, "metrics.jsonl"), "utf8").trim().split("\n");
  return {
    runDir,
    lines: lines
      .map((line) => JSON.parse(line) as Line & { phase: string })
      .filter(({ phase }) => phase === "train"),
  };
}

it("learns by GRPO, and goes on from a checkpoint", { timeout: 900_000 }, async () => {
  const first = await train(6);
  const whole = await train(12, first.runDir);
  const rewards = whole.lines.map((line) => line["reward/mean"]);
  expect(whole.lines.map(({ step }) => step)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  process.stderr.write(`rewards ${rewards.map((reward) => reward.toFixed(2)).join(" ")}\n`);
  expect(mean(rewards.slice(-3))).toBeGreaterThan(mean(rewards.slice(0, 3)) + 0.2);
});
