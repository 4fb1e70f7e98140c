/** The whole loop in TypeScript against the bridge: rollouts over HTTP, updates, checkpoints. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { documentedName } from "../docs/metric-page.ts";
import type { VerlBackend, VerlRunOptions } from "../../src/backends/verl/index.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { defined } from "../../src/util/defined.ts";
import { coinAgent, coinTasks, readLines, withoutClock } from "../trainer/coin-run.ts";
import { fakeBackend, fakeRun, hasPython, modelFolder } from "./fake-bridge.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-verl-"));

/** 1 for "z", less for letters before it. */
function lateLetter(_task: Task, { output }: Episode): number {
  const at = "abcdefghijklmnopqrstuvwxyz".indexOf(String(output));
  return at < 0 ? 0 : at / 25;
}

const backends: VerlBackend[] = [];
afterEach(async () => {
  await Promise.all(backends.splice(0).map((backend) => backend[Symbol.asyncDispose]()));
});

interface Options {
  readonly outputDir: string;
  readonly steps: number;
  readonly engineOptions?: Readonly<Record<string, unknown>>;
  readonly resume?: "auto";
  readonly placement?: "colocated" | "disaggregated";
  readonly set?: Readonly<Record<string, unknown>>;
  readonly run?: Partial<VerlRunOptions>;
  readonly onEvent?: (event: TrainerEvent) => void;
}

function trainer(options: Options): AgentTrainer {
  const { outputDir, steps, engineOptions = {}, placement = "colocated", set } = options;
  const { resume, onEvent } = options;
  const run = { ...fakeRun, reference: true, ...options.run };
  const backend = fakeBackend({ run, engineOptions, placement });
  backends.push(backend);
  return new AgentTrainer({
    backend,
    ...defined({ resume, onEvent }),
    agentFlow: coinAgent,
    evaluator: lateLetter,
    trainDataset: coinTasks,
    config: {
      "model.name": modelFolder,
      "data.train_batch_size": 4,
      "rollout.n": 8,
      "rollout.train.max_tokens": 1,
      "training.learning_rate": fakeRun.optim.learningRate,
      "training.max_grad_norm": fakeRun.optim.maxGradNorm,
      "trainer.total_batches": steps,
      "trainer.save_freq": 3,
      "trainer.output_dir": outputDir,
      "trainer.experiment_name": "letters",
      "workflow.retry_limit": 0,
      ...set,
    },
  });
}

const rewards = (folder: string): number[] =>
  readLines(folder, "letters", "metrics.jsonl").map((line) => line["reward/mean"] as number);

describe.skipIf(!hasPython)("training through the bridge", () => {
  it("learns, and every trace carries the version of the weights that drew it", async () => {
    const outputDir = newFolder();
    const result = await trainer({ outputDir, steps: 12 }).train();
    expect(result.status).toBe("completed");
    const means = rewards(outputDir);
    const [early, late] = [means.slice(0, 3), means.slice(-3)].map(
      (part) => part.reduce((sum, value) => sum + value, 0) / part.length,
    );
    expect(late).toBeGreaterThan((early as number) + 0.2);
    const lines = readLines(outputDir, "letters", "metrics.jsonl");
    expect(lines.map((line) => line["weight_version"])).toEqual(lines.map((line) => line["step"]));
    // Sampled with the weights that are trained: fresh rollouts have no distance.
    for (const line of lines) expect(line["train/logprob_abs_diff_mean"]).toBeLessThan(1e-6);
    const named = (name: string): boolean =>
      !["train/{name}", undefined].includes(documentedName(name));
    const metrics = Object.keys(lines[0]!).filter((name) => !["step", "phase"].includes(name));
    expect(metrics.filter((name) => !named(name))).toEqual([]);
  });

  it.each([
    ["the only update of a step", [2], 1, [1, 1, 2, 3]],
    // Weights have changed by then: the next version wakes the servers.
    ["the last of two", [4], 2, [1, 2, 3, 4]],
    ["the first of two", [3], 2, [1, 2, 3, 4]],
    ["both of two", [3, 4], 2, [1, 1, 2, 3]],
  ])(
    "colocated servers answer again after an update was skipped: %s",
    async (_, not_finite_at, num_minibatches, versions) => {
      const outputDir = newFolder();
      const run = trainer({
        outputDir,
        steps: 4,
        engineOptions: { not_finite_at },
        set: {
          "guards.on_non_finite": "skip",
          "training.num_minibatches": num_minibatches,
        },
      });
      expect(await run.train()).toMatchObject({ status: "completed", steps: 4 });
      const lines = readLines(outputDir, "letters", "metrics.jsonl");
      expect(lines.map((line) => line["train/skipped_updates"])).toEqual([
        0,
        not_finite_at.length,
        0,
        0,
      ]);
      expect(lines.map((line) => line["weight_version"])).toEqual(versions);
      expect(lines.map((line) => line["rollout/failed"])).toEqual([0, 0, 0, 0]);
    },
  );

  it("trains the policy that it samples at temperature 0.7", async () => {
    const outputDir = newFolder();
    const warnings: string[] = [];
    const run = trainer({
      outputDir,
      steps: 4,
      run: { temperature: 0.7 },
      set: { "rollout.train.temperature": 0.7 },
      onEvent: (event) => event.type === "warning" && warnings.push(event.message),
    });
    await run.train();
    for (const line of readLines(outputDir, "letters", "metrics.jsonl")) {
      expect(line["train/logprob_abs_diff_mean"]).toBeLessThan(1e-6);
      expect(line["train/ratio_mean"]).toBeCloseTo(1, 6);
    }
    expect(warnings).toEqual([]);
  });

  it("computes log-probabilities itself where servers give those before temperature", async () => {
    const outputDir = newFolder();
    const warnings: string[] = [];
    const run = trainer({
      outputDir,
      steps: 3,
      run: { temperature: 0.7, logprobTemperature: "one" },
      set: { "rollout.train.temperature": 0.7 },
      onEvent: (event) => event.type === "warning" && warnings.push(event.message),
    });
    await run.train();
    for (const line of readLines(outputDir, "letters", "metrics.jsonl"))
      expect(line["train/logprob_abs_diff_mean"]).toBeLessThan(1e-6);
    expect(warnings).toEqual([expect.stringMatching(/^\d+ of \d+ rows .+ before temperature/)]);
  });

  it("goes on with rollouts during updates where servers are apart, and corrects for older weights", async () => {
    const outputDir = newFolder();
    const run = trainer({
      outputDir,
      steps: 8,
      placement: "disaggregated",
      // Long enough for the rollouts of the next step.
      engineOptions: { update_seconds: 0.2 },
      set: {
        "async_training.enable": true,
        "algorithm.rollout_correction": "token",
        "algorithm.kl_beta": 0.01,
      },
    });
    expect(await run.train()).toMatchObject({ status: "completed", steps: 8 });
    const lines = readLines(outputDir, "letters", "metrics.jsonl");
    const all = (name: string): number[] => lines.map((line) => line[name] as number);
    expect(Math.max(...all("async/staleness_max"))).toBe(1);
    // Rollouts of one version ago are another policy's; fresh ones are not.
    const [first, ...later] = all("off_policy/kl_k3");
    expect(first).toBeLessThan(1e-9);
    expect(Math.max(...later)).toBeGreaterThan(1e-6);
    // The reference is where it all began.
    const distances = all("train/kl_reference");
    expect(distances[0]).toBeLessThan(1e-9);
    expect(distances.at(-1)).toBeGreaterThan(1e-3);
  });

  it("resumes to the same numbers after the bridge was killed in the middle of an update", async () => {
    const whole = newFolder();
    await trainer({ outputDir: whole, steps: 8 }).train();
    const expected = readLines(whole, "letters", "metrics.jsonl").map(withoutClock);

    const outputDir = newFolder();
    const first = trainer({ outputDir, steps: 8, engineOptions: { update_seconds: 0.4 } });
    const [backend] = backends.slice(-1);
    let updates = 0;
    const update = backend!.updatePolicy.bind(backend);
    backend!.updatePolicy = async (...given) => {
      // Step 5 is two steps after the last checkpoint.
      if (++updates === 5) setTimeout(() => process.kill(backend!.pid as number, "SIGKILL"), 200);
      return update(...given);
    };
    await expect(first.train()).rejects.toMatchObject({
      code: "VERL_FAILED",
      reason: "lost",
      message: expect.stringContaining("SIGKILL"),
    });
    const second = trainer({ outputDir, steps: 8, resume: "auto" });
    const result = await second.train();
    expect(result).toMatchObject({ status: "completed", steps: 8 });
    expect(readLines(outputDir, "letters", "metrics.jsonl").map(withoutClock)).toEqual(expected);
  });
});
