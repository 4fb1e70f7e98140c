/** Runs whose tasks follow observed solve rates: what they take, and how they resume. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Task } from "../../src/core/task.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { coinBackend } from "./coin-backend.ts";
import { coinTrainer, newFolder, readLines, withoutClock } from "./coin-run.ts";

/** Of a third any answer is right, of a third none is. */
const tasks: readonly Task[] = Array.from({ length: 12 }, (_, i) => ({
  id: `task-${i}`,
  instruction: `Question ${i}: yes or no?`,
  metadata: { kind: ["easy", "fair", "hard"][i % 3] },
}));
const evaluator = ({ metadata }: Task, { output }: Episode): boolean =>
  metadata["kind"] === "easy" || (metadata["kind"] === "fair" && output === "yes");

const set = {
  "data.curriculum": { type: "solve_rate", group_key: "kind" },
  "data.train_batch_size": 4,
  "training.learning_rate": 0.01,
  "trainer.total_batches": 12,
  "trainer.save_freq": 2,
};
const options = { trainDataset: tasks, evaluator, set } as const;

const metricsOf = (folder: string) => readLines(folder, "metrics.jsonl").map(withoutClock);

describe("data.curriculum=solve_rate", () => {
  it.each([
    {},
    { "async_training.enable": true },
    { "rejection_sample.enable": true, "rejection_sample.max_batches": 3 },
  ])("comes to roll out what teaches, with %j", async (more) => {
    const { runDir } = await coinTrainer({ ...options, set: { ...set, ...more } }).trainer.train();
    const steps = metricsOf(runDir) as Record<string, number>[];
    const informative = steps.map((step) => step["curriculum/informative_fraction"] ?? 0);
    const mean = (values: number[]): number =>
      values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(informative.slice(-6))).toBeGreaterThan(0.6);
    expect(steps.at(-1)!["curriculum/seen_fraction"]).toBe(1);
  });

  it.each([{}, { "rejection_sample.enable": true, "rejection_sample.max_batches": 3 }])(
    "continues bit by bit after it was stopped in the middle of a step, with %j",
    async (more) => {
      const all = { ...options, set: { ...set, ...more } };
      const whole = coinBackend();
      const { runDir } = await coinTrainer({ ...all, backend: whole }).trainer.train();
      const outputDir = newFolder();
      const controller = new AbortController();
      let ended = 0;
      await coinTrainer({
        ...all,
        outputDir,
        signal: controller.signal,
        onEvent: ({ type, step }) => {
          if (type === "rollout-end" && step === 6 && ++ended === 3) controller.abort();
        },
      }).trainer.train();
      const backend = coinBackend();
      const again = coinTrainer({ ...all, outputDir, backend, resume: "auto" });
      const { runDir: resumed } = await again.trainer.train();
      expect(backend.weight).toBe(whole.weight);
      expect(metricsOf(resumed)).toEqual(metricsOf(runDir));
    },
  );

  it("stores in an asynchronous run what was observed, and which tasks run again", async () => {
    const outputDir = newFolder();
    const controller = new AbortController();
    const more = { "async_training.enable": true, "trainer.save_freq": 1 };
    const all = { ...options, outputDir, set: { ...set, ...more } };
    const { runDir } = await coinTrainer({
      ...all,
      signal: controller.signal,
      onEvent: ({ type, step }) => {
        if (type === "step-end" && step === 5) controller.abort();
      },
    }).trainer.train();
    const file = join(runDir, "checkpoints", "000005", "state.json");
    const { curriculum, position } = JSON.parse(readFileSync(file, "utf8")) as {
      curriculum: { begun: [number, number[]][]; evidence: number[][] };
      position: { next: number; pending: number[] };
    };
    expect(curriculum.evidence).toHaveLength(3);
    const begun = new Map(curriculum.begun);
    for (const place of position.pending)
      expect(begun.get(Math.floor(place / 4) + 1)).toHaveLength(4);
    const ids = position.pending.map(
      (place) => `${place}/${tasks[begun.get(Math.floor(place / 4) + 1)![place % 4]!]!.id}`,
    );
    const seen = new Set<string>();
    const again = coinTrainer({
      ...all,
      resume: "auto",
      onEvent: (event) => {
        if (event.type === "rollout-end") seen.add(event.episodeId.replace(/\/\d+$/u, ""));
      },
    });
    expect(await again.trainer.train()).toMatchObject({ status: "completed", steps: 12 });
    for (const id of ids) expect(seen).toContain(id);
  });

  it("may begin on resume, and cannot end there", async () => {
    const outputDir = newFolder();
    const first = { "trainer.total_batches": 3, "data.curriculum": "none" };
    await coinTrainer({ ...options, outputDir, set: { ...set, ...first } }).trainer.train();
    const again = { ...options, outputDir, resume: "auto", allowChanges: true } as const;
    const more = { "trainer.total_batches": 5 };
    await coinTrainer({ ...again, set: { ...set, ...more } }).trainer.train();
    const back = { "trainer.total_batches": 7, "data.curriculum": "none" };
    await expect(
      coinTrainer({ ...again, set: { ...set, ...back } }).trainer.train(),
    ).rejects.toThrow("data.curriculum cannot change from solve_rate to none");
  });
});
