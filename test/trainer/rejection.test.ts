import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { assessTask } from "../../src/trainer/rollouts/rejection.ts";
import { Workflow } from "../../src/rollouts/workflow/workflow.ts";
import { coinBackend } from "./coin-backend.ts";
import {
  coinTasks,
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";
import { episode as makeEpisode } from "./options/episodes.ts";

/** Tasks 0 and 1 are partly solved, 2 is always solved, 3 and 4 never. */
function evaluator(task: { id: string }, episode: { rolloutIndex: number }): number {
  const number = Number(task.id.slice(-1));
  if (number >= 2) return number === 2 ? 1 : 0;
  return episode.rolloutIndex % 2;
}

const enabled = { "rejection_sample.enable": true };

const trainedTasks = (backend: ReturnType<typeof coinBackend>): string[][] =>
  backend.updates.map(({ rows }) => [...new Set(rows.map((row) => row.provenance.taskId))].sort());

const metricsOf = (runDir: string) =>
  readLines(runDir, "metrics.jsonl").filter((line) => line["phase"] === "train");

describe("rejection sampling", () => {
  it("W1: goes on until a step has its tasks, and trains on none that all or none solved", async () => {
    const backend = coinBackend();
    const { trainer, events } = coinTrainer({ backend, evaluator, set: enabled });
    const { runDir } = await trainer.train();
    expect(
      trainedTasks(backend)
        .flat()
        .every((id) => id === "task-0" || id === "task-1"),
    ).toBe(true);
    const lines = metricsOf(runDir);
    expect(lines.every((line) => line["train/skipped_steps"] === 0)).toBe(true);
    // Two of five tasks can be used, so steps of two need more than one batch of two on average.
    const batches = lines.map((line) => Number(line["rejection_sample/batches"]));
    expect(batches.some((count) => count > 1)).toBe(true);
    const added = events.filter(({ type }) => type === "rollouts-added").length;
    expect(added).toBe(batches.reduce((sum, count) => sum + count, 0) - batches.length);
  });

  it("does not say that a step uses all tasks of a small dataset", async () => {
    const warning = async (set: Record<string, unknown>): Promise<unknown[]> => {
      const own = { "data.train_batch_size": 8, "trainer.total_batches": 1, ...set };
      const { trainer, events } = coinTrainer({ evaluator, set: own });
      await trainer.train();
      return events.flatMap((event) =>
        event.type === "warning" && event.message.includes("data has 5 tasks") ? event.message : [],
      );
    };
    const begins = "The training data has 5 tasks, fewer than data.train_batch_size=8;";
    expect(await warning({})).toEqual([`${begins} every step uses all 5.`]);
    expect(await warning(enabled)).toEqual([
      `${begins} each batch rolls out all 5, and a step trains on those that rejection_sample keeps.`,
    ]);
  });

  it("W3: takes as many tasks as a step has, and leaves the others for the next one", async () => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      backend,
      evaluator: ({ id }, { rolloutIndex }) => (id === "task-4" ? 1 : rolloutIndex % 2),
      set: { ...enabled, "trainer.total_batches": 8 },
    });
    const { runDir } = await trainer.train();
    let before = 0;
    for (const line of metricsOf(runDir)) {
      const useful =
        Number(line["rejection_sample/tasks"]) *
        Number(line["rejection_sample/some_correct_fraction"] ?? 0);
      expect(line["rejection_sample/waiting_tasks"]).toBe(before + useful - 2);
      before += useful - 2;
    }
    expect(metricsOf(runDir).map((line) => line["rejection_sample/waiting_tasks"])).toContain(1);
    expect(backend.updates.map(({ rows }) => rows.length)).toEqual(Array(8).fill(8));
    const ids = backend.updates.flatMap(({ rows }) => rows.map((row) => row.provenance.episodeId));
    expect(new Set(ids).size).toBe(64);
  });

  it("trains on what there is after max_batches, or skips the step", async () => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      backend,
      evaluator: (task, episode) => (task.id === "task-0" ? episode.rolloutIndex % 2 : 1),
      set: { ...enabled, "rejection_sample.max_batches": 2, "trainer.total_batches": 5 },
    });
    const { runDir } = await trainer.train();
    const lines = metricsOf(runDir);
    expect(lines.every((line) => line["rejection_sample/batches"] === 2)).toBe(true);
    const skipped = lines.map((line) => line["train/skipped_steps"]);
    expect(skipped).toContain(1);
    expect(skipped).toContain(0);
  });

  it("W2: leaves a run of one rollout per task alone unless it is asked for", async () => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({
      backend,
      set: { "rollout.n": 1, "algorithm.estimator": "reinforce", "data.train_batch_size": 5 },
    });
    await trainer.train();
    expect(backend.updates.map(({ rows }) => rows.length)).toEqual([5, 5, 5, 5]);
    expect(() => coinTrainer({ set: { ...enabled, "rollout.n": 1 } })).toThrow(
      "would drop every task",
    );
  });
});

describe("what waits for a later step", () => {
  const shared = (outputDir: string): CoinTrainerOptions => ({
    outputDir,
    evaluator: (_task, episode) => Number(episode.output === "yes"),
    set: {
      ...enabled,
      "rejection_sample.max_batches": 3,
      "training.learning_rate": 0.1,
      "trainer.total_batches": 5,
      "trainer.save_freq": 1,
      "trainer.keep_checkpoints": 1,
    },
  });

  it("is saved: a resumed run ends with the numbers of an uninterrupted one", async () => {
    const expected = coinBackend();
    const whole = await coinTrainer({ ...shared(newFolder()), backend: expected }).trainer.train();
    for (const step of [1, 2, 4]) {
      const outputDir = newFolder();
      const controller = new AbortController();
      const first = coinTrainer({
        ...shared(outputDir),
        signal: controller.signal,
        onEvent: (event) => {
          if (event.type === "step-end" && event.step === step) controller.abort();
        },
      });
      const { runDir } = await first.trainer.train();
      const [saved] = readdirSync(join(runDir, "checkpoints"));
      const waiting = metricsOf(runDir).at(-1)?.["rejection_sample/waiting_tasks"];
      const files = readdirSync(join(runDir, "checkpoints", saved as string));
      expect(files.includes("rollouts.jsonl")).toBe(waiting !== 0);
      const backend = coinBackend();
      await coinTrainer({ ...shared(outputDir), backend, resume: "auto" }).trainer.train();
      expect(backend.weight).toBe(expected.weight);
      expect(metricsOf(runDir).map(withoutClock)).toEqual(
        metricsOf(whole.runDir).map(withoutClock),
      );
    }
    const waited = metricsOf(whole.runDir).filter(
      (line) => line["rejection_sample/waiting_tasks"] !== 0,
    );
    expect(waited.length).toBeGreaterThan(0);
    expect(coinTasks).toHaveLength(5);
  });
});

/** Every step is worth 1, whatever it says. */
class AlwaysOne extends Workflow {
  async run(task: Task): Promise<string> {
    const agent = this.trajectory();
    const { content } = await agent.call([{ role: "user", content: task.instruction }]);
    agent.mark({ reward: 1 });
    return content;
  }
}

describe("what a task has to teach is what the loss sees", () => {
  // "yes" is longer than "no" by one token.
  const shaped = {
    stepwise_advantage: { enable: true, mode: "per_step" },
    "algorithm.overlong_buffer": { enable: true, len: 1, penalty_factor: 1, max_length: 4 },
  };
  const way = {
    agentFlow: undefined,
    evaluator: undefined,
    workflowClass: AlwaysOne,
  } as unknown as CoinTrainerOptions;

  it.each([
    ["rejection sampling", { "rejection_sample.enable": true }],
    ["the filter of groups", { "algorithm.filter_uniform_groups": true }],
  ])("with per_step, %s keeps tasks that differ by the overlong penalty alone", async (_, set) => {
    const backend = coinBackend();
    const { trainer } = coinTrainer({ ...way, backend, set: { ...shaped, ...set } });
    const { status } = await trainer.train();
    expect(status).toBe("completed");
    const advantages = backend.updates.flatMap(({ rows }) =>
      rows.map(({ tokens, targetMask, advantages: of }) => {
        const at = targetMask.indexOf(1);
        return [tokens[at] === "y".charCodeAt(0), Math.sign(of[at] ?? 0)] as const;
      }),
    );
    expect(advantages.length).toBeGreaterThan(0);
    for (const [isYes, sign] of advantages) expect(sign).toBe(isYes ? -1 : 1);
  });

  const config = (...overrides: string[]) =>
    loadConfig({ overrides: ["model.name=m", "rejection_sample.enable=true", ...overrides] })
      .config;
  const equal = { key: "1/a", since: 1, episodes: [makeEpisode(), makeEpisode({}, 1)] };

  it("a teacher teaches where rewards are equal, which is still counted", () => {
    expect(assessTask(config(), equal)).toMatchObject({ hasContrast: false, isUseful: false });
    const taught = config("distillation.teacher=teacher");
    expect(assessTask(taught, equal)).toMatchObject({ hasContrast: false, isUseful: true });
  });
});

describe("the metrics of rollouts", () => {
  it.each([
    ["synchronously", {}],
    ["asynchronously", { "async_training.enable": true }],
  ])("cover all that were sampled, also of dropped tasks: %s", async (_, mode) => {
    const { trainer } = coinTrainer({ evaluator, set: { ...enabled, ...mode } });
    const { runDir } = await trainer.train();
    let dropped = 0;
    for (const line of metricsOf(runDir)) {
      const file = `${String(line["step"]).padStart(6, "0")}.jsonl`;
      const episodes = readLines(runDir, "episodes", file) as unknown as readonly Episode[];
      const mean = episodes.reduce((sum, { reward }) => sum + (reward ?? 0), 0) / episodes.length;
      expect(line["reward/mean"]).toBeCloseTo(mean, 12);
      expect(line["rollout/pass@1"]).toBeCloseTo(mean, 12);
      expect(line["rollout/episodes"]).toBe(episodes.length);
      dropped += episodes.filter(({ task }) => !/[01]$/u.test(task.id)).length;
    }
    // Tasks 2, 3 and 4 are trained on in no step, and are in the numbers all the same.
    expect(dropped).toBeGreaterThan(0);
  });
});
