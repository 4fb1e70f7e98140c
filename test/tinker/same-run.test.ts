/** One run, in process and through a Tinker server: the same numbers, rollout by rollout. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { agent } from "../../examples/shop/agent.ts";
import { evaluator } from "../../examples/shop/evaluator.ts";
import { trainTasks } from "../../examples/shop/tasks.ts";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { createTinkerBackend } from "../../src/backends/tinker/index.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { AgentTrainer } from "../../src/trainer/agent-trainer.ts";
import { fetchOf, modelPath, startServer, token } from "./local-server.ts";
import type { LocalServer } from "./local-server.ts";

let local: LocalServer;
beforeAll(async () => {
  local = await startServer({ modelName: "shop-tiny" });
});
afterAll(() => local[Symbol.asyncDispose]());

type Metrics = Readonly<Record<string, number | string>>;

function viaTinker(): TrainingBackend {
  return createTinkerBackend({
    baseUrl: "http://tinker.test",
    apiKey: token,
    tokenizer: modelPath,
    client: { fetch: fetchOf(local.server) },
  });
}

interface RunOptions {
  readonly steps?: number;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly resume?: string;
}

async function run(
  backend: TrainingBackend,
  modelName: string,
  { steps = 10, set = {}, resume }: RunOptions = {},
): Promise<{ readonly runDir: string; readonly metrics: readonly Metrics[] }> {
  await using owned = backend;
  const trainer = new AgentTrainer({
    backend: owned,
    agentFlow: agent,
    evaluator,
    trainDataset: trainTasks,
    ...(resume === undefined ? {} : { resume }),
    config: {
      "model.name": modelName,
      "model.lora_rank": 4,
      "data.train_batch_size": 2,
      "rollout.n": 4,
      "rollout.train.max_tokens": 24,
      "training.learning_rate": 0.001,
      "trainer.total_batches": steps,
      "trainer.seed": 7,
      "trainer.output_dir": mkdtempSync(join(tmpdir(), "same-run-")),
      ...set,
    },
  });
  const { runDir } = await trainer.train();
  const lines = readFileSync(join(runDir, "metrics.jsonl"), "utf8").trim().split("\n");
  const metrics = lines.map((line) => JSON.parse(line) as Metrics);
  return { runDir, metrics: metrics.filter(({ phase }) => phase === "train") };
}

function expectClose(actual: readonly Metrics[], expected: readonly Metrics[]): void {
  expect(actual).toHaveLength(expected.length);
  for (const [i, line] of expected.entries()) {
    for (const [name, value] of Object.entries(line)) {
      if (name.startsWith("time/") || name.startsWith("engine/") || name.endsWith("per_s"))
        continue;
      if (typeof value === "string") expect(actual[i]![name], name).toBe(value);
      else
        expect(Math.abs(Number(actual[i]![name]) - value), `step ${i + 1} ${name}`).toBeLessThan(
          1e-4 * Math.max(1, Math.abs(value)),
        );
    }
  }
}

it("gives metrics equal within 1e-4 for ten steps", { timeout: 120_000 }, async () => {
  const inProcess = await run(createLocalBackend(), modelPath);
  const remote = await run(viaTinker(), "shop-tiny");
  expect(inProcess.metrics).toHaveLength(10);
  const learned = inProcess.metrics.filter((line) => line["train/skipped_steps"] === 0);
  expect(learned.length).toBeGreaterThan(3);
  expectClose(remote.metrics, inProcess.metrics);
});
