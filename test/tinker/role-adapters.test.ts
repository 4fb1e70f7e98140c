/** Roles with adapters of their own on a Tinker server: a model for each, resumed with all of them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import type { AgentConfig } from "../../src/core/agent.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { defineTrajectory } from "../../src/core/report.ts";
import type { Task } from "../../src/core/task.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { request } from "../rollout/gateway-run.ts";
import { fetchOf, modelPath, startServer } from "./local-server.ts";
import { newFolder, readMetrics, viaTinker } from "./shop-run.ts";

async function agentRunFunc(task: Task, config: AgentConfig) {
  return Promise.all(
    ["solver", "judge", "coach"].map(async (name) => {
      const { uid, baseUrl } = config.trajectory(name);
      const { content } = await request({ ...config, baseUrl }, `${name}: ${task.instruction}`);
      return defineTrajectory({ name, uid, reward: content.length % 5 });
    }),
  );
}

async function run(backend: TrainingBackend, name: string, more: Record<string, unknown> = {}) {
  await using owned = backend;
  const { resume, ...set } = more;
  const trainer = new AgentTrainer({
    backend: owned,
    agentRunFunc,
    trainDataset: ["a", "b"].map((id) => ({ id, instruction: `Say ${id}.`, metadata: {} })),
    ...(resume === undefined ? {} : { resume: resume as "auto" }),
    config: {
      "model.name": name,
      "model.lora_rank": 4,
      "model.adapter_by_role": { solver: "solver", judge: "default", coach: "none" },
      "data.train_batch_size": 2,
      "rollout.n": 3,
      "rollout.train.max_tokens": 6,
      "algorithm.filter_uniform_groups": false,
      "training.learning_rate": 1e-2,
      "trainer.total_batches": 2,
      "trainer.save_freq": 1,
      "trainer.output_dir": newFolder(),
      ...set,
    },
  });
  const { runDir } = await trainer.train();
  return { runDir, metrics: readMetrics(runDir) };
}

it("trains a model on the server for each adapter, and goes on with them", async () => {
  await using local = await startServer();
  const fetch = fetchOf(local.server);
  const whole = await run(viaTinker({ fetch }), "shop-tiny");
  const weights = join(whole.runDir, "checkpoints", "000002", "weights");
  expect(existsSync(join(weights, "tinker.json"))).toBe(true);
  expect(existsSync(join(weights, "solver", "tinker.json"))).toBe(true);
  for (const metrics of whole.metrics)
    for (const name of ["solver", "default"]) {
      // The server samples from the weights that it trains.
      expect(metrics[`train/adapters/${name}/logprob_abs_diff_mean`]).toBe(0);
      expect(metrics[`train/adapters/${name}/tokens`]).toBeGreaterThan(0);
    }
  const outputDir = newFolder();
  const set = { "trainer.output_dir": outputDir, "trainer.experiment_name": "part" };
  await run(viaTinker({ fetch }), "shop-tiny", { ...set, "trainer.total_batches": 1 });
  const resumed = await run(viaTinker({ fetch }), "shop-tiny", { ...set, resume: "auto" });
  const learned = ["train/loss", "train/grad_norm", "reward/mean", "train/adapters/solver/loss"];
  for (const key of learned)
    expect(resumed.metrics.map((line) => line[key])).toEqual(
      whole.metrics.map((line) => line[key]),
    );
  // The same engine in this process: another seed of the factors of A, so only the first rollouts are equal.
  const own = await run(createLocalBackend({ threads: 2, precision: "f32" }), modelPath, {
    "trainer.total_batches": 1,
  });
  expect(own.metrics[0]!["reward/mean"]).toBe(whole.metrics[0]!["reward/mean"]);
}, 60_000);

it("learns at rates of single adapters, of which 0 freezes one", async () => {
  await using local = await startServer();
  const fetch = fetchOf(local.server);
  // With this seed, groups of both differ in their rewards in the first step.
  const seed = { "trainer.seed": 3 };
  const at = async (set: Record<string, unknown>) =>
    (await run(viaTinker({ fetch }), "shop-tiny", { ...set, ...seed })).metrics[1]!;
  const [mixed, fast, frozen] = [
    await at({
      "training.learning_rate": 1e-3,
      "training.learning_rate_by_adapter": { default: 0, solver: 1e-2 },
    }),
    await at({ "training.learning_rate": 1e-2 }),
    await at({ "training.learning_rate": 0 }),
  ];
  const ofAdapter = (metrics: typeof mixed, name: string) =>
    ["loss", "grad_norm", "sampled_nll"].map((key) => metrics[`train/adapters/${name}/${key}`]);
  // After the first step each is where a run is that has its rate for all.
  expect(ofAdapter(mixed, "solver")).toEqual(ofAdapter(fast, "solver"));
  expect(ofAdapter(mixed, "default")).toEqual(ofAdapter(frozen, "default"));
  for (const name of ["solver", "default"])
    expect(ofAdapter(fast, name)).not.toEqual(ofAdapter(frozen, name));
  await expect(at({ "training.learning_rate_by_adapter": { coach: 1 } })).rejects.toThrow(
    "names the adapter coach",
  );
}, 60_000);
