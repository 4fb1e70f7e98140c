/** Short runs of the shop example on any backend, and what their metrics are compared by. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { agent } from "../../examples/shop/agent.ts";
import { evaluator } from "../../examples/shop/evaluator.ts";
import { trainTasks } from "../../examples/shop/tasks.ts";
import { createTinkerBackend } from "../../src/backends/tinker/index.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { modelPath, token, type Fetch } from "./local-server.ts";

export type Metrics = Readonly<Record<string, number | string>>;

export interface RunOptions {
  readonly steps?: number;
  readonly set?: Readonly<Record<string, unknown>>;
  /** A run folder. */
  readonly resume?: string;
  readonly onStepEnd?: (step: number) => void;
}

export interface Run {
  readonly runDir: string;
  /** Of training steps. */
  readonly metrics: readonly Metrics[];
}

/** @param fetch takes the place of the network. */
export function viaTinker(where: {
  readonly baseUrl?: string;
  readonly fetch?: Fetch;
}): TrainingBackend {
  return createTinkerBackend({
    baseUrl: where.baseUrl ?? "http://tinker.test",
    apiKey: token,
    tokenizer: modelPath,
    client: where.fetch === undefined ? {} : { fetch: where.fetch },
  });
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "tinker-run-"));
}

export async function run(
  backend: TrainingBackend,
  modelName: string,
  { steps = 10, set = {}, resume, onStepEnd }: RunOptions = {},
): Promise<Run> {
  await using owned = backend;
  const trainer = new AgentTrainer({
    backend: owned,
    agentFlow: agent,
    evaluator,
    trainDataset: trainTasks,
    ...(resume === undefined ? {} : { resume }),
    ...(onStepEnd === undefined
      ? {}
      : { onEvent: (event) => event.type === "step-end" && onStepEnd(event.step) }),
    config: {
      "model.name": modelName,
      "model.lora_rank": 4,
      "data.train_batch_size": 2,
      "rollout.n": 4,
      "rollout.train.max_tokens": 24,
      "training.learning_rate": 0.001,
      "trainer.total_batches": steps,
      "trainer.seed": 7,
      ...(resume === undefined ? { "trainer.output_dir": newFolder() } : {}),
      ...set,
    },
  });
  const { runDir } = await trainer.train();
  return { runDir, metrics: readMetrics(runDir) };
}

export function readMetrics(runDir: string): readonly Metrics[] {
  const lines = readFileSync(join(runDir, "metrics.jsonl"), "utf8").trim().split("\n");
  const metrics = lines.map((line) => JSON.parse(line) as Metrics);
  return metrics.filter(({ phase }) => phase === "train");
}

/** Within 1e-4, apart from what depends on the clock or belongs to one engine. */
export function expectClose(actual: readonly Metrics[], expected: readonly Metrics[]): void {
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
