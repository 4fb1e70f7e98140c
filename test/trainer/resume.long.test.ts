import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import type { RunContext } from "../../src/core/backend.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import type { Task } from "../../src/core/task.ts";
import type { RunState } from "../../src/runs/checkpoint.ts";
import { comparableState, resumedState } from "../../src/runs/resumed-state.ts";
import { hashDataset } from "../../src/runs/run-identity.ts";
import { checkTasks, orderOf, ordersAfter } from "../../src/runs/task-orders.ts";
import { coinBackend } from "./coin-backend.ts";
import {
  coinTasks,
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
  withoutClock,
} from "./coin-run.ts";

const shared: CoinTrainerOptions = {
  valDataset: coinTasks.slice(0, 2),
  set: { "trainer.total_batches": 8, "trainer.test_freq": 3, "trainer.save_freq": 2 },
};

const numbers = (runDir: string) => readLines(runDir, "metrics.jsonl").map(withoutClock);

async function uninterrupted() {
  const backend = coinBackend();
  const { runDir } = await coinTrainer({ ...shared, backend }).trainer.train();
  return { runDir, weight: backend.weight };
}

/** A run that is told to stop when `when` says so. */
async function interrupted(outputDir: string, when: (type: string, step: number) => boolean) {
  const controller = new AbortController();
  const { trainer } = coinTrainer({
    ...shared,
    outputDir,
    signal: controller.signal,
    onEvent: (event) => {
      if (when(event.type, event.step)) controller.abort();
    },
  });
  return await trainer.train();
}

async function resumed(outputDir: string, more: CoinTrainerOptions = {}) {
  const backend = coinBackend();
  const made = coinTrainer({ ...shared, outputDir, backend, resume: "auto", ...more });
  const result = await made.trainer.train();
  return { result, backend, events: made.events };
}

describe("interrupt and resume", () => {
  it.each([
    ["after a step", "step-end", 5],
    ["during the rollouts of a step", "rollout-end", 4],
    ["before the first rollout of a step", "step-start", 3],
    ["during the first step", "rollout-end", 1],
  ])("stopped %s, ends with the numbers of an uninterrupted run", async (_, type, step) => {
    const outputDir = newFolder();
    const expected = await uninterrupted();
    const first = await interrupted(outputDir, (t, s) => t === type && s === step);
    expect(first.status).toBe("interrupted");
    expect(first.steps).toBe(type === "step-end" ? step : step - 1);

    const second = await resumed(outputDir);
    expect(second.result).toMatchObject({ status: "completed", steps: 8 });
    expect(second.backend.weight).toBe(expected.weight);
    expect(numbers(first.runDir)).toEqual(numbers(expected.runDir));
    expect(readdirSync(join(first.runDir, "episodes"))).toEqual(
      readdirSync(join(expected.runDir, "episodes")),
    );
  });

  it("makes up for a validation that was interrupted", async () => {
    const outputDir = newFolder();
    const expected = await uninterrupted();
    let isLate = false;
    const first = await interrupted(outputDir, (type, step) => {
      isLate ||= type === "step-end" && step === 3;
      return isLate && type === "rollout-end";
    });
    expect(first).toMatchObject({ status: "interrupted", steps: 3 });
    expect(numbers(first.runDir).at(-1)).toMatchObject({ step: 3, phase: "train" });
    await resumed(outputDir);
    expect(numbers(first.runDir)).toEqual(numbers(expected.runDir));
  });

  it("cuts back what a killed run recorded after its last checkpoint", async () => {
    const outputDir = newFolder();
    const expected = await uninterrupted();
    const { runDir } = await interrupted(outputDir, (t, s) => t === "step-end" && s === 4);
    const before = readLines(runDir, "events.jsonl").length;
    appendFileSync(join(runDir, "events.jsonl"), '{"type":"step-start","step":5}\n{"type":"st');
    appendFileSync(join(runDir, "metrics.jsonl"), '{"step":5,"phase":"train"}\n');
    writeFileSync(join(runDir, "episodes", "000099.jsonl"), "{}\n");
    writeFileSync(join(runDir, "episodes", "val-000099.jsonl"), "{}\n");
    const { events } = await resumed(outputDir);
    expect(events[0]).toMatchObject({ type: "run-start", step: 4 });
    expect(numbers(runDir)).toEqual(numbers(expected.runDir));
    expect(readLines(runDir, "events.jsonl").length).toBe(before + events.length);
    expect(readdirSync(join(runDir, "episodes"))).toEqual(
      readdirSync(join(expected.runDir, "episodes")),
    );
  });

  it("falls back to the previous checkpoint when the newest is damaged", async () => {
    const outputDir = newFolder();
    const expected = await uninterrupted();
    const { runDir } = await interrupted(outputDir, (t, s) => t === "step-end" && s === 5);
    const file = join(runDir, "checkpoints", "000005", "weights", "coin.json");
    writeFileSync(file, readFileSync(file, "utf8").replace("1", "2"));
    const { events, backend } = await resumed(outputDir);
    expect(events[0]).toMatchObject({ type: "run-start", step: 4 });
    expect(events[1]).toMatchObject({
      type: "warning",
      message: expect.stringContaining("has changed") as string,
    });
    expect(backend.weight).toBe(expected.weight);
    expect(numbers(runDir)).toEqual(numbers(expected.runDir));
  });

  it("tells of damaged lines of the record, and keeps them aside", async () => {
    const outputDir = newFolder();
    const { runDir } = await interrupted(outputDir, (t, s) => t === "step-end" && s === 5);
    const file = join(runDir, "metrics.jsonl");
    const lines = readFileSync(file, "utf8").split("\n");
    const broken = lines[2]!.replace("{", "[");
    writeFileSync(file, lines.with(2, broken).join("\n"));
    const { events } = await resumed(outputDir);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "warning",
        message: expect.stringContaining(`${file}:3 is damaged`) as string,
      }),
    );
    expect(readFileSync(`${file}.damaged`, "utf8")).toBe(`${broken}\n`);
  });

  it("refuses a folder without a checkpoint, but auto starts it over", async () => {
    const outputDir = newFolder();
    const { runDir } = await interrupted(outputDir, (t, s) => t === "rollout-end" && s === 1);
    expect(readdirSync(join(runDir, "checkpoints"))).toEqual([]);
    await expect(resumed(outputDir, { resume: runDir })).rejects.toMatchObject({
      code: "CHECKPOINT_INVALID",
    });
    const { result } = await resumed(outputDir);
    expect(result).toMatchObject({ steps: 8, runDir });
  });

  it("refuses another configuration, naming what differs; a longer run is fine", async () => {
    const outputDir = newFolder();
    const { runDir } = await interrupted(outputDir, (t, s) => t === "step-end" && s === 2);
    await expect(
      resumed(outputDir, { set: { ...shared.set, "rollout.n": 2, "training.beta1": 0.5 } }),
    ).rejects.toThrow("rollout.n was 4 and is 2; training.beta1 was 0.9 and is 0.5");
    expect(existsSync(join(runDir, "run.lock"))).toBe(false);
    const longer = { ...shared.set, "trainer.total_batches": 9 };
    const { result } = await resumed(outputDir, { set: longer });
    expect(result.steps).toBe(9);
  });

  it("refuses other tasks", async () => {
    const outputDir = newFolder();
    await interrupted(outputDir, (t, s) => t === "step-end" && s === 2);
    await expect(resumed(outputDir, { trainDataset: coinTasks.slice(1) })).rejects.toThrow(
      "trained on other tasks",
    );
  });

  it("uses a folder again whose run came to nothing", async () => {
    const outputDir = newFolder();
    const backend = coinBackend();
    backend.start = () => Promise.reject(new Error("no such model"));
    await expect(resumed(outputDir, { backend, resume: false })).rejects.toThrow("no such model");
    const other = { ...shared.set, "rollout.n": 3 };
    const { result } = await resumed(outputDir, { resume: false, set: other });
    expect(result).toMatchObject({ status: "completed", steps: 8 });
    const starts = readLines(result.runDir, "events.jsonl").filter(
      (e) => e["type"] === "run-start",
    );
    expect(starts).toHaveLength(1);
  });

  it("refuses to write over a run unless it is told to go on", async () => {
    const outputDir = newFolder();
    await interrupted(outputDir, (t, s) => t === "step-end" && s === 1);
    await expect(resumed(outputDir, { resume: false })).rejects.toThrow("already holds a run");
  });

  it("does nothing more to a run that is complete", async () => {
    const outputDir = newFolder();
    const first = await coinTrainer({ ...shared, outputDir }).trainer.train();
    const before = numbers(first.runDir);
    const { result, backend } = await resumed(outputDir);
    expect(result).toMatchObject({ status: "completed", steps: 8 });
    expect(backend.updates).toHaveLength(0);
    expect(numbers(first.runDir)).toEqual(before);
  });

  it("keeps as many checkpoints as it is told", async () => {
    const { runDir } = await coinTrainer({
      ...shared,
      set: { ...shared.set, "trainer.keep_checkpoints": 2 },
    }).trainer.train();
    expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000006", "000008"]);
  });

  it("W22: refuses a backend that cannot resume exactly", () => {
    const backend = coinBackend({ capabilities: { exactResume: false } });
    expect(() => coinTrainer({ backend, resume: "auto" })).toThrow(
      '"coin" does not support resume',
    );
  });
});

describe("a run that is resumed with other options", () => {
  async function stoppedAt(step: number) {
    const outputDir = newFolder();
    const run = await interrupted(outputDir, (t, s) => t === "step-end" && s === step);
    return { outputDir, ...run };
  }

  it("takes new limits, rates and validation settings, and records them", async () => {
    const { outputDir, runDir } = await stoppedAt(2);
    const set = {
      ...shared.set,
      "training.learning_rate": 0.25,
      "guards.kl": 5,
      "workflow.timeout_s": 30,
      "workflow.retry_limit": 1,
      "rollout.n_val": 2,
      "training.ppo_epochs": 2,
    };
    const { result, backend, events } = await resumed(outputDir, { set });
    expect(result).toMatchObject({ status: "completed", steps: 8 });
    expect(new Set(backend.updates.map(({ optim }) => optim.learningRate))).toEqual(
      new Set([0.25]),
    );
    const change = events.find(({ type }) => type === "config-change");
    expect(change).toMatchObject({
      step: 2,
      changes: [
        { option: "rollout.n_val", before: 1, after: 2, isFixed: false },
        { option: "training.learning_rate", before: 0.5, after: 0.25, isFixed: false },
        { option: "training.ppo_epochs", before: 1, after: 2, isFixed: false },
        { option: "guards.kl", before: null, after: 5, isFixed: false },
        { option: "workflow.retry_limit", before: 0, after: 1, isFixed: false },
        { option: "workflow.timeout_s", before: 600, after: 30, isFixed: false },
      ],
    });
    const recorded = readLines(runDir, "events.jsonl").filter((e) => e["type"] === "config-change");
    expect(recorded).toEqual([change]);
    expect(readFileSync(join(runDir, "config.resolved.yaml"), "utf8")).toContain(
      "learning_rate: 0.25",
    );
  });

  it("may compute something else where that is allowed, from the same place in the data", async () => {
    const { outputDir } = await stoppedAt(3);
    const set = { ...shared.set, "data.train_batch_size": 5, "rollout.n": 2 };
    await expect(resumed(outputDir, { set })).rejects.toMatchObject({
      message: expect.stringContaining("data.train_batch_size was 2 and is 5") as string,
      hint: expect.stringContaining("--allow-changes") as string,
    });
    const { result, events } = await resumed(outputDir, { set, allowChanges: true });
    expect(result.steps).toBe(8);
    expect(events.find(({ type }) => type === "config-change")).toMatchObject({
      changes: [
        { option: "data.train_batch_size", before: 2, after: 5, isFixed: true },
        { option: "rollout.n", before: 4, after: 2, isFixed: true },
      ],
    });
    // 3 batches of 2 are 6 tasks: one whole batch of 5.
    const first = events.find(({ type }) => type === "step-start");
    expect(first).toMatchObject({ step: 4, tasks: 5, rollouts: 10 });
    const epoch = new Set(
      events.flatMap((e) => (e.type === "rollout-end" && e.step === 4 ? [e.taskId] : [])),
    );
    expect(epoch.size).toBe(5);
  });

  it("searches for the best validation anew when that means something else", async () => {
    const { outputDir } = await stoppedAt(5);
    const set = { ...shared.set, "trainer.best_metric": "val/pass@1" };
    const { events } = await resumed(outputDir, { set });
    expect(events.filter(({ type }) => type === "warning")).toEqual([
      expect.objectContaining({
        message: expect.stringContaining("the search for the best starts over") as string,
      }),
    ]);
  });
});

describe("a backend that learns at its start what it supports", () => {
  it("refuses the option there, before anything is rolled out", async () => {
    let hasStarted = false;
    const coin = coinBackend();
    const backend = {
      ...coin,
      get capabilities() {
        return { ...coin.capabilities, servesWhileTraining: !hasStarted };
      },
      start: (run: RunContext) => {
        hasStarted = true;
        return coin.start(run);
      },
    };
    const { trainer, events } = coinTrainer({ backend, set: { "async_training.enable": true } });
    await expect(trainer.train()).rejects.toMatchObject({
      code: "OPTION_UNSUPPORTED",
      message: expect.stringContaining("async_training.enable=true") as string,
    });
    expect(events.filter(({ type }) => type === "rollout-end")).toEqual([]);
  });
});

describe("validating alone", () => {
  const alone = { ...shared.set, "trainer.val_only": true };

  it("measures the weights of a run that is complete", async () => {
    const outputDir = newFolder();
    const first = await coinTrainer({ ...shared, outputDir }).trainer.train();
    const { result, backend, events } = await resumed(outputDir, { set: alone });
    expect(result).toMatchObject({ status: "completed", steps: 8, metrics: null });
    expect(result.validation).toMatchObject({
      "val/episodes": 2,
      "val/reward/mean": first.validation?.["val/reward/mean"],
    });
    expect(backend.updates).toEqual([]);
    expect(events.filter(({ type }) => type === "validation-end")).toHaveLength(1);
  });

  /** Hashes of all files below a folder. */
  const contents = (folder: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
        .map((path) => [path, createHash("sha256").update(readFileSync(path)).digest("hex")]),
    );

  it.each(["", "checkpoints/000004"])(
    "changes nothing of the run, at its newest checkpoint or at %j",
    async (checkpoint) => {
      const outputDir = newFolder();
      const { runDir } = await coinTrainer({ ...shared, outputDir }).trainer.train();
      const before = contents(runDir);
      const resume = join(runDir, checkpoint);
      const { result, events } = await resumed(outputDir, { set: alone, resume });
      expect(result.steps).toBe(checkpoint === "" ? 8 : 4);
      expect(result.validation).toMatchObject({ "val/episodes": 2 });
      expect(contents(runDir)).toEqual(before);
      expect(result.runDir).toMatch(/coin-validation-/u);
      expect(readLines(result.runDir, "events.jsonl")).toHaveLength(events.length);
      // And the run can still go on from its end.
      const after = await resumed(outputDir, {
        set: { ...shared.set, "trainer.total_batches": 9 },
      });
      expect(after.result).toMatchObject({ status: "completed", steps: 9, runDir });
    },
  );

  it.each([
    ["trainer.val_only", true],
    ["trainer.keep_best", true],
  ])("%s is refused without validation data", async (option, value) => {
    const outputDir = newFolder();
    const { trainer } = coinTrainer({ outputDir, set: { [option]: value } });
    await expect(trainer.train()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `${option}=true cannot be used without validation data.`,
    });
    expect(readdirSync(outputDir)).toEqual([]);
  });

  it("options of validations give a warning without validation data, only where they were set", async () => {
    const set = { "trainer.test_freq": 3, "rollout.n_val": 4, "rollout.val.temperature": 0.5 };
    const { trainer, events } = coinTrainer({ set });
    await trainer.train();
    const warnings = events.flatMap((e) => (e.type === "warning" ? [e.message] : []));
    expect(warnings.filter((text) => text.includes("validation data"))).toEqual([
      "rollout.n_val=4 has no effect: it needs validation data.",
      "rollout.val.temperature=0.5 has no effect: it needs validation data.",
      "trainer.test_freq=3 has no effect: it needs validation data.",
    ]);
  });
});

describe("nothing to resume", () => {
  const warningsOf = (events: readonly { type: string }[]) =>
    events.flatMap((e) => (e.type === "warning" ? [(e as { message?: string }).message] : []));

  it("is said when a new run begins", async () => {
    const outputDir = newFolder();
    const { events, result } = await resumed(outputDir);
    expect(warningsOf(events)).toEqual([
      `There is no run to resume in ${result.runDir}; a new one starts in ${result.runDir}.`,
    ]);
  });

  it("is said when a run without a checkpoint starts over, with whatever options", async () => {
    const outputDir = newFolder();
    await interrupted(outputDir, (t, s) => t === "rollout-end" && s === 1);
    const { events, result } = await resumed(outputDir, { set: { ...shared.set, "rollout.n": 3 } });
    expect(warningsOf(events)).toEqual([
      `The run in ${result.runDir} has no checkpoint to resume from; it starts over.`,
    ]);
    expect(events[0]).toMatchObject({ type: "run-start", step: 0, resumedFrom: null });
  });
});

describe("what was measured with other validation tasks", () => {
  const set = { ...shared.set, "trainer.test_freq": 1, "trainer.early_stopping_patience": 3 };
  const held = (id: string) => [{ id, instruction: "Question 1: yes or no?", metadata: {} }];
  const messages = (events: readonly TrainerEvent[]) =>
    events.flatMap((event) => (event.type === "warning" ? [event.message] : [])).join("\n");

  it("is forgotten, and so is how long nothing was better", async () => {
    const outputDir = newFolder();
    // All right: nothing can be better, so every later validation counts as none.
    const evaluator = (task: Task) => (task.id === "old" ? 1 : 0.25);
    const options = { ...shared, evaluator, outputDir };
    const first = coinTrainer({
      ...options,
      valDataset: held("old"),
      set: { ...set, "trainer.total_batches": 2 },
    });
    expect((await first.trainer.train()).best).toEqual({ step: 0, value: 1 });
    const more = { evaluator, valDataset: held("new"), set };
    const { result, events } = await resumed(outputDir, more);
    expect(result.best).toMatchObject({ step: 2, value: 0.25 });
    expect(result.steps).toBe(5);
    expect(messages(events)).toContain("the search for the best starts over");
  });

  it("has no best that was not saved, where trainer.keep_best is turned on", () => {
    const state = { best: { step: 3, value: 1 }, valHash: "v" } as unknown as RunState;
    const at = (keepBest: boolean, isSaved: boolean) => {
      const { config } = loadConfig({
        overrides: ["model.name=m", `trainer.keep_best=${keepBest}`],
      });
      const run = { changes: [], valHash: "v", isSaved: () => isSaved };
      return comparableState(state, run, config).best;
    };
    expect([at(true, false), at(true, true)]).toEqual([null, state.best]);
    expect(at(false, false)).toEqual(state.best);
  });
});

describe("options that cannot change with what a checkpoint holds", () => {
  it.each(["staleness_threshold", "trigger_parameter_sync_step"])(
    "async_training.%s is refused by name, also with allowChanges",
    async (name) => {
      const outputDir = newFolder();
      const asynchronous = { ...shared.set, "async_training.enable": true };
      const first = { ...asynchronous, "trainer.total_batches": 2 };
      await coinTrainer({ ...shared, outputDir, set: first }).trainer.train();
      const changed = { ...asynchronous, [`async_training.${name}`]: 3 };
      const again = resumed(outputDir, { set: changed, allowChanges: true });
      await expect(again).rejects.toThrow(
        new RegExp(`async_training\\.${name} was 1 and is 3`, "u"),
      );
    },
  );

  it("a batch size beyond the dataset changes nothing of the position", async () => {
    const state = { position: { next: 3, pending: [] } } as unknown as RunState;
    const { config } = loadConfig({ overrides: ["model.name=m", "data.train_batch_size=8"] });
    const changes = [{ option: "data.train_batch_size", before: 16, after: 8, isFixed: true }];
    expect(resumedState(state, config, changes, 5).position.next).toBe(3);
    expect(resumedState(state, config, changes, 16).position.next).toBe(6);
  });
});

describe("another order of the tasks", () => {
  const hard: Readonly<Record<string, number>> = {
    ...{ "task-0": 3, "task-1": 1, "task-2": 5, "task-3": 2, "task-4": 4 },
  };
  const tasksWith = (difficulty: (id: string) => Record<string, unknown>): readonly Task[] =>
    coinTasks.map((task) => ({ ...task, metadata: difficulty(task.id) }));
  const trainDataset = tasksWith((id) => ({ difficulty: hard[id], other: 1 }));
  const upTo = (steps: number, curriculum: string) => ({
    "trainer.total_batches": steps,
    "data.curriculum": curriculum,
  });
  const part = (outputDir: string, set: Record<string, unknown>, more: CoinTrainerOptions = {}) =>
    coinTrainer({ trainDataset, outputDir, set, resume: "auto", ...more });

  it("is taken for what the epoch has left, and goes on after another resume", async () => {
    const outputDir = newFolder();
    const events: TrainerEvent[] = [];
    const train = async (set: Record<string, unknown>, more: CoinTrainerOptions = {}) => {
      const made = part(outputDir, set, more);
      await made.trainer.train();
      events.push(...made.events);
    };
    await train(upTo(1, "none"));
    await expect(train(upTo(4, "easy_first"))).rejects.toMatchObject({
      message: expect.stringContaining(
        'data.curriculum.type was "none" and is "easy_first"',
      ) as string,
      hint: expect.stringContaining("--allow-changes") as string,
    });
    await train(upTo(4, "easy_first"), { allowChanges: true });
    await train(upTo(10, "easy_first"));
    const levels = Array.from({ length: 10 }, (_, i) => [
      ...new Set(
        events.flatMap((e) => (e.type === "rollout-end" && e.step === i + 1 ? [e.taskId] : [])),
      ),
    ]).map((ids) => ids.map((id) => hard[id] as number).toSorted());
    // Five tasks in batches of two: the shuffled ones of the first batch, then the others from easy to hard.
    const begun = levels[0] as number[];
    const left = [1, 2, 3, 4, 5].filter((level) => !begun.includes(level));
    expect(levels[1]).toEqual(left.slice(0, 2));
    const last = left[2] as number;
    const easiest = last === 1 ? 2 : 1;
    expect(levels[2]).toEqual([easiest, last].toSorted());
    const others = [1, 2, 3, 4, 5].filter((level) => level !== easiest);
    expect(levels.slice(3, 5)).toEqual([others.slice(0, 2), others.slice(2)]);
    expect(levels.slice(5)).toEqual([
      [1, 2],
      [3, 4],
      [1, 5],
      [2, 3],
      [4, 5],
    ]);
  });

  it("needs the difficulties that it had, and names them", async () => {
    const outputDir = newFolder();
    await part(outputDir, upTo(1, "hard_first")).trainer.train();
    const again = (difficulty: (id: string) => Record<string, unknown>, set: object = {}) =>
      part(
        outputDir,
        { ...upTo(2, "hard_first"), ...set },
        { trainDataset: tasksWith(difficulty), allowChanges: true },
      ).trainer.train();
    const kept = "metadata.difficulty, ";
    await expect(again(() => ({ difficulty: 1 }))).rejects.toThrow(`${kept}are others now`);
    const byOther = { "data.curriculum.difficulty_key": "other" };
    await expect(again(() => ({ other: 1 }), byOther)).rejects.toThrow(`${kept}are no longer`);
    const both = (id: string) => ({ difficulty: hard[id], other: 1 });
    expect(await again(both, byOther)).toMatchObject({ status: "completed", steps: 2 });
  });

  it("is known of checkpoints that hold one hash of tasks and difficulties", () => {
    const { config } = loadConfig({
      overrides: ["model.name=m", "data.seed=4", "data.curriculum=easy_first"],
    });
    const rank = (task: Task) => task.metadata["difficulty"] as number;
    const position = { next: 2, pending: [] };
    const saved = { dataHash: hashDataset(trainDataset, rank), position } as unknown as RunState;
    const run = { folder: "f", changes: [] };
    expect(() => checkTasks(saved, config, trainDataset, run)).not.toThrow();
    const fewer = trainDataset.slice(1);
    expect(() => checkTasks(saved, config, fewer, run)).toThrow("on other tasks");
    const now = orderOf(config, trainDataset);
    expect(now).toMatchObject({ seed: 4, hash: saved.dataHash, until: null });
    const after = (changes: typeof run.changes) =>
      ordersAfter(saved, config, changes, { now, begun: 4 });
    expect(after([])).toEqual([now]);
    const changed = [{ option: "data.seed", before: 3, after: 4, isFixed: true }];
    expect(after(changed as never)).toEqual([{ ...now, seed: 3, until: 4 }, now]);
  });
});

describe("a run that fails to start", () => {
  it("leaves no folder", async () => {
    const outputDir = newFolder();
    const backend = {
      ...coinBackend(),
      start: () => Promise.reject(new Error("There is no such model.")),
    };
    const { trainer, events } = coinTrainer({ outputDir, backend });
    await expect(trainer.train()).rejects.toThrow(/no such model/u);
    expect(events.at(-1)).toMatchObject({ type: "run-end", status: "failed" });
    expect(readdirSync(outputDir)).toEqual([]);
  });

  it("leaves a run that is there as it is", async () => {
    const outputDir = newFolder();
    const { runDir } = await coinTrainer({ ...shared, outputDir }).trainer.train();
    const backend = { ...coinBackend(), start: () => Promise.reject(new Error("It is down.")) };
    const { trainer } = coinTrainer({ ...shared, outputDir, backend, resume: "auto" });
    await expect(trainer.train()).rejects.toThrow(/down/u);
    expect(readdirSync(join(runDir, "checkpoints")).length).toBeGreaterThan(0);
  });
});
