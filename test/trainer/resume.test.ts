import { appendFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
    expect(() => coinTrainer({ backend, resume: "auto" })).toThrow('"coin" does not honour resume');
  });
});
