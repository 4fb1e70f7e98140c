/** What the trainer does itself, on other backends: on Tinker the numbers of `local`, through verl's bridge a step. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import type { AgentTrainerOptions } from "../../src/launch/trainer-options.ts";
import { fetchOf, modelPath, startServer } from "../tinker/local-server.ts";
import { viaTinker } from "../tinker/shop-run.ts";
import { fakeBackend, fakeRun, hasPython, modelFolder } from "../verl/fake-bridge.ts";
import { coinAgent, newFolder, readLines, withoutClock } from "./coin-run.ts";

type Set = Readonly<Record<string, unknown>>;

const fileOf = (name: string, count: number): string => {
  const path = join(newFolder(), `${name}.jsonl`);
  const rows = Array.from({ length: count }, (_, i) => ({
    id: `${name}-${i}`,
    instruction: `Say ${name} ${i}.`,
  }));
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
  return path;
};

/** By the words of docs/methods.md, with a metric that the method brings. */
const methods: Readonly<Record<string, { readonly set: Set; readonly metric: string }>> = {
  GDPO: {
    set: { "algorithm.estimator": { type: "gdpo", weights: { short: 1, even: 0.5 } } },
    metric: "signals/agent/even/informative_fraction",
  },
  mixture: {
    set: {
      "dataset.sources": { a: { train: fileOf("a", 4), weight: 1 }, b: { train: fileOf("b", 3) } },
    },
    metric: "source/a/tasks",
  },
  curriculum: {
    set: { "data.curriculum": { type: "solve_rate", group_key: "kind" } },
    metric: "curriculum/seen_fraction",
  },
  "per-turn rewards": {
    set: { "stepwise_advantage.enable": true, "stepwise_advantage.mode": "per_step" },
    metric: "advantage/agent/mean",
  },
  lineages: { set: { "rollout.side_calls": "train" }, metric: "lineages/per_rollout/mean" },
  RLOO: { set: { "algorithm.estimator": "rloo" }, metric: "advantage/agent/std" },
};

/** Something that differs between responses. */
const sumOf = (output: unknown): number =>
  Array.from(String(output), (char) => char.codePointAt(0)!).reduce((sum, code) => sum + code, 0);

async function stepOf(
  backend: TrainingBackend,
  name: string,
  set: Set,
  more: Set = {},
): Promise<Readonly<Record<string, unknown>>> {
  await using owned = backend;
  const tasks = ["a", "b", "c", "d"].map((id, i) => ({
    id,
    instruction: `Say ${id}.`,
    metadata: { kind: `${i % 2}` },
  }));
  const given = {
    backend: owned,
    agentFlow: coinAgent,
    evaluator: (_: Task, { output }: Episode) => ({
      reward: sumOf(output) % 7,
      isCorrect: sumOf(output) % 2 === 0,
      signals: [
        { name: "short", value: -String(output).length },
        { name: "even", value: sumOf(output) % 2 },
      ],
    }),
    ...("dataset.sources" in set ? {} : { trainDataset: tasks }),
    config: {
      "model.name": name,
      "data.train_batch_size": 2,
      "rollout.n": 4,
      "rollout.train.max_tokens": 8,
      "algorithm.filter_uniform_groups": false,
      "training.learning_rate": 1e-2,
      "trainer.total_batches": 1,
      "trainer.output_dir": newFolder(),
      "dataset.leak_check": false,
      ...set,
      ...more,
    },
  };
  const { runDir, status } = await new AgentTrainer(
    given as unknown as AgentTrainerOptions,
  ).train();
  expect(status).toBe("completed");
  return withoutClock(readLines(runDir, "metrics.jsonl")[0]!);
}

/** What comes of rollouts, rewards and advantages; not of the factors of LoRA, whose seeds are the server's. */
const ofTrainer = /^(?:reward|advantage|rows|source|signals|curriculum|lineages|episode)\//u;

it.each(Object.entries(methods))("%s has the numbers of local on Tinker", async (_, one) => {
  await using server = await startServer();
  const lora = { "model.lora_rank": 4 };
  const own = await stepOf(createLocalBackend({ threads: 2, precision: "f32" }), modelPath, {
    ...one.set,
    ...lora,
  });
  const tinker = viaTinker({ fetch: fetchOf(server.server) });
  const found = await stepOf(tinker, "shop-tiny", { ...one.set, ...lora });
  expect(own).toHaveProperty([one.metric]);
  const keys = Object.keys(own).filter((key) => ofTrainer.test(key));
  expect(keys.length).toBeGreaterThan(10);
  for (const key of keys) expect(found[key], key).toEqual(own[key]);
  expect(found["train/loss"]).toBeCloseTo(own["train/loss"] as number, 4);
});

it.skipIf(!hasPython).each(Object.entries(methods))(
  "%s takes a step through verl's bridge",
  async (_, { set, metric }) => {
    const { maxGradNorm, learningRate } = fakeRun.optim;
    const step = await stepOf(fakeBackend(), modelFolder, set, {
      "training.learning_rate": learningRate,
      "training.max_grad_norm": maxGradNorm,
    });
    expect(step).toHaveProperty([metric]);
    expect(step["train/grad_norm"]).toBeTypeOf("number");
    expect(Number.isFinite(step["train/loss"])).toBe(true);
  },
);

it("learning from observations is refused by name where a backend cannot", async () => {
  await using server = await startServer();
  const set = { "algorithm.observation_loss": { tool: 0.1 } };
  const tinker = viaTinker({ fetch: fetchOf(server.server) });
  await expect(stepOf(tinker, "shop-tiny", set, { "model.lora_rank": 4 })).rejects.toThrow(
    'does not support algorithm.observation_loss=["tool=0.1"]. Backends that support it: local.',
  );
});
