import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NumericsError } from "../../src/core/errors.ts";
import { coinBackend } from "./coin-backend.ts";
import {
  coinAgent,
  coinTasks,
  coinTrainer,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";

describe("a whole run", () => {
  it("learns, and leaves config, events, metrics, episodes and a checkpoint", async () => {
    const backend = coinBackend();
    const { trainer, events } = coinTrainer({
      backend,
      valDataset: coinTasks.slice(0, 2),
      set: { "trainer.total_batches": 6, "rollout.n_val": 4 },
    });
    const result = await trainer.train();

    expect(result.status).toBe("completed");
    expect(result.steps).toBe(6);
    expect(backend.weight).toBeGreaterThan(0.5);
    expect(backend.isDisposed).toBe(false);
    const metrics = readLines(result.runDir, "metrics.jsonl");
    expect(metrics.map((line) => `${String(line["phase"])} ${String(line["step"])}`)).toEqual([
      "validation 0",
      ...[1, 2, 3, 4, 5, 6].map((step) => `train ${step}`),
      "validation 6",
    ]);
    expect(metrics.at(-1)).toMatchObject({ "val/episodes": 8, "val/failed": 0 });
    expect(metrics[1]).toMatchObject({ "rollout/episodes": 8, "progress/lr": 0.5 });
    const steps = metrics.filter((line) => line["phase"] === "train");
    const updates = steps.filter((line) => line["train/skipped_steps"] === 0).length;
    expect(updates).toBe(backend.updates.length);
    expect(steps.at(-1)?.["weight_version"]).toBe(updates);
    expect(readdirSync(join(result.runDir, "checkpoints"))).toEqual(["000006"]);
    expect(existsSync(join(result.runDir, "config.resolved.yaml"))).toBe(true);
    expect(existsSync(join(result.runDir, "run.lock"))).toBe(false);
    const [episode] = readLines(result.runDir, "episodes", "000001.jsonl") as unknown as [
      { trajectories: { steps: { trace: { responseIds: number[]; logprobs: number[] } }[] }[] },
    ];
    const call = episode.trajectories[0]?.steps[0]?.trace;
    expect(call?.responseIds.length).toBeGreaterThan(2);
    expect(call?.logprobs.length).toBe(call?.responseIds.length);
    expect(events.at(-1)).toMatchObject({ type: "run-end", status: "completed", step: 6 });
    expect(readLines(result.runDir, "events.jsonl").length).toBe(events.length);
  });

  it("gives the same numbers for the same seed, and others for another", async () => {
    const runs = [];
    for (const seed of [1, 1, 2]) {
      const { trainer } = coinTrainer({ set: { "trainer.seed": seed } });
      const { runDir } = await trainer.train();
      runs.push(readLines(runDir, "metrics.jsonl").map(withoutClock));
    }
    expect(runs[0]).toEqual(runs[1]);
    expect(runs[0]).not.toEqual(runs[2]);
  });

  it("rolls the dice anew at every step: frozen weights still give other rollouts", async () => {
    const { trainer } = coinTrainer({
      set: { "training.learning_rate": 0, "data.train_batch_size": 5 },
    });
    const { runDir } = await trainer.train();
    const outputs = ["000001", "000002", "000003"].map((step) =>
      readLines(runDir, "episodes", `${step}.jsonl`)
        .map((line) => line as { task: { id: string }; rolloutIndex: number; output: string })
        .map(({ task, rolloutIndex, output }) => `${task.id} ${rolloutIndex} ${output}`)
        .sort()
        .join(),
    );
    expect(new Set(outputs).size).toBe(3);
  });

  it("uses the same validation seeds every time: frozen weights give equal validations", async () => {
    const { trainer, events } = coinTrainer({
      valDataset: coinTasks,
      set: { "training.learning_rate": 0, "trainer.test_freq": 2, "rollout.n_val": 3 },
    });
    await trainer.train();
    const rewards = events.flatMap((event) =>
      event.type === "validation-end" ? [event.metrics["val/reward/mean"]] : [],
    );
    expect(rewards).toHaveLength(3);
    expect(new Set(rewards).size).toBe(1);
  });

  it("skips the update when every group is uniform, and goes on", async () => {
    const backend = coinBackend();
    const { trainer, events } = coinTrainer({ backend, evaluator: () => 1 });
    const result = await trainer.train();
    expect(result.steps).toBe(4);
    expect(backend.updates).toHaveLength(0);
    const skipped = events.flatMap((e) =>
      e.type === "step-end" ? [e.metrics["train/skipped_steps"]] : [],
    );
    expect(skipped).toEqual([1, 1, 1, 1]);
    expect(result.metrics?.["weight_version"]).toBe(0);
  });

  it("warns when the agent's calls do not come through the gateway", async () => {
    const { trainer, events } = coinTrainer({
      agentFlow: () => "yes",
      set: { "trainer.stop_when_nothing_learned": false },
    });
    await trainer.train();
    const warnings = events.filter((event) => event.type === "warning");
    expect(warnings).toHaveLength(4);
    expect(warnings[0]).toMatchObject({
      message: expect.stringContaining("config.baseUrl") as string,
    });
  });

  it("warns of a dataset smaller than a batch, and uses all of it", async () => {
    const { trainer, events } = coinTrainer({ set: { "data.train_batch_size": 16 } });
    await trainer.train();
    const start = events.find((event) => event.type === "step-start");
    expect(start).toMatchObject({ tasks: 5, rollouts: 20 });
    expect(events.find((event) => event.type === "warning")).toMatchObject({
      message: expect.stringContaining("5 tasks, fewer than data.train_batch_size=16") as string,
    });
  });

  it("schedules the learning rate without a step of rate zero", async () => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      backend,
      set: {
        "training.lr_schedule": "linear",
        "training.lr_schedule.warmup": 2,
        "algorithm.filter_uniform_groups": false,
      },
    });
    await trainer.train();
    expect(backend.updates.map((update) => update.optim.learningRate)).toEqual([
      0.25, 0.5, 0.5, 0.25,
    ]);
  });

  it("reports the share of a step in which the engine had nothing to do", async () => {
    const backend = coinBackend({ metrics: () => ({ "engine/busy_s": 0, "engine/tokens": 7 }) });
    const { trainer } = coinTrainer({ backend });
    const { metrics } = await trainer.train();
    expect(metrics).toMatchObject({ "time/outside_engine_fraction": 1, "engine/tokens": 7 });
  });
});

describe("a run that fails", () => {
  it("stops when every rollout throws, with the agent's error as the cause", async () => {
    const { trainer, events } = coinTrainer({
      agentFlow: () => {
        throw new TypeError("no such tool");
      },
    });
    await expect(trainer.train()).rejects.toMatchObject({
      code: "TOO_MANY_FAILURES",
      message: expect.stringContaining("8 of 8 rollouts of step 1") as string,
      cause: { name: "TypeError", message: "no such tool" },
    });
    expect(events.at(-1)).toMatchObject({ type: "run-end", status: "failed" });
  });

  it("stops when agents never return", async () => {
    const { trainer } = coinTrainer({
      agentFlow: () => new Promise(() => {}),
      set: { "workflow.timeout_s": 0.05 },
    });
    await expect(trainer.train()).rejects.toMatchObject({ code: "TOO_MANY_FAILURES" });
  });

  it("stops when the evaluator returns NaN", async () => {
    const { trainer } = coinTrainer({ evaluator: () => Number.NaN });
    await expect(trainer.train()).rejects.toMatchObject({
      code: "TOO_MANY_FAILURES",
      message: expect.stringContaining("NaN") as string,
    });
  });

  it("goes on when fewer rollouts fail than max_failed_fraction", async () => {
    let calls = 0;
    const { trainer, events } = coinTrainer({
      agentFlow: async (task, config) => {
        if (calls++ % 4 === 0) throw new Error("sometimes");
        return await coinAgent(task, config);
      },
    });
    const result = await trainer.train();
    expect(result.steps).toBe(4);
    const step = events.find((event) => event.type === "step-end");
    expect(step).toMatchObject({ metrics: { "rollout/failed": 2 } });
  });

  it("goes on when exactly max_failed_fraction of the rollouts fail", async () => {
    let calls = 0;
    const { trainer } = coinTrainer({
      agentFlow: async (task, config) => {
        if (calls++ % 2 === 0) throw new Error("every other time");
        return await coinAgent(task, config);
      },
    });
    await expect(trainer.train()).resolves.toMatchObject({ steps: 4 });
  });

  it("keeps the last completed step when the loss is not finite", async () => {
    let updates = 0;
    const outputDir = newFolder();
    const { trainer } = coinTrainer({
      outputDir,
      backend: coinBackend({
        onUpdate: () => {
          if (++updates === 3) throw new NumericsError("loss", Number.NaN);
        },
      }),
      set: { "algorithm.filter_uniform_groups": false },
    });
    await expect(trainer.train()).rejects.toMatchObject({ code: "NUMERICS" });
    const runDir = join(outputDir, "coin");
    expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000002"]);
    expect(readLines(runDir, "metrics.jsonl")).toHaveLength(2);
    expect(existsSync(join(runDir, "run.lock"))).toBe(false);
  });

  it("saves nothing when an update broke half-way", async () => {
    let updates = 0;
    const outputDir = newFolder();
    const { trainer } = coinTrainer({
      outputDir,
      backend: coinBackend({
        onUpdate: () => {
          if (++updates === 3) throw new Error("out of memory");
        },
      }),
      set: { "algorithm.filter_uniform_groups": false },
    });
    await expect(trainer.train()).rejects.toThrow("out of memory");
    expect(readdirSync(join(outputDir, "coin", "checkpoints"))).toEqual([]);
  });
});

describe("events", () => {
  it("can be iterated, and ends when the run does", async () => {
    const { trainer } = coinTrainer();
    const types: string[] = [];
    for await (const event of trainer.events()) types.push(event.type);
    expect(types[0]).toBe("run-start");
    expect(types.at(-1)).toBe("run-end");
    expect(types.filter((type) => type === "step-end")).toHaveLength(4);
  });

  it("interrupts the run when the loop is left", async () => {
    const outputDir = newFolder();
    const { trainer } = coinTrainer({ outputDir, set: { "trainer.total_batches": 1000 } });
    for await (const event of trainer.events()) if (event.type === "step-end") break;
    const lines = readLines(outputDir, "coin", "events.jsonl");
    expect(lines.at(-1)).toMatchObject({ type: "run-end", status: "interrupted" });
  });

  it("refuses to start twice", async () => {
    const { trainer } = coinTrainer();
    await trainer.train();
    expect(() => trainer.events()).toThrow("already been started");
  });

  it("survives a listener that throws", async () => {
    const { trainer, events } = coinTrainer({
      onEvent: () => {
        throw new Error("display broke");
      },
    });
    await expect(trainer.train()).resolves.toMatchObject({ status: "completed" });
    expect(events).toHaveLength(1);
  });
});
