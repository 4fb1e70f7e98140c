import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readRunHealth } from "../../src/runs/run-health.ts";
import { coinBackend } from "./coin-backend.ts";
import { coinTrainer, newFolder, readLines } from "./coin-run.ts";

/** A run of eight steps whose gradient explodes in the fourth, unless the learning rate is low; or the rest of it. */
function exploding(set: Record<string, unknown> = {}, resume?: string, outputDir = newFolder()) {
  let updates = resume === undefined ? 0 : 5;
  let rate = 0;
  const backend = coinBackend({
    onUpdate: ({ optim }) => (rate = optim.learningRate),
    report: () => ({ grad_norm: ++updates > 3 && rate > 0.2 ? 5000 : 1 }),
  });
  const made = coinTrainer({
    backend,
    outputDir,
    ...(resume === undefined ? {} : { resume }),
    set: {
      "algorithm.filter_uniform_groups": false,
      "trainer.total_batches": 8,
      "trainer.save_freq": 0,
      ...set,
    },
  });
  const warned = (): (readonly [number, string])[] =>
    made.events.flatMap((event) =>
      event.type === "health" ? [[event.step, event.finding.disease] as const] : [],
    );
  return { ...made, warned, outputDir, runDir: join(outputDir, "coin") };
}

const recorded = (runDir: string): unknown[] =>
  readLines(runDir, "events.jsonl").filter(({ type }) => type === "health");

it("warns once of a disease, in events and in the run folder, and goes on", async () => {
  const run = exploding();
  await run.trainer.train();
  expect(run.warned()).toEqual([[5, "learning_rate_high"]]);
  expect(recorded(run.runDir)).toHaveLength(1);
  expect(readLines(run.runDir, "metrics.jsonl")).toHaveLength(8);
  expect(await readRunHealth(run.runDir)).toMatchObject([
    { disease: "learning_rate_high", warnedAt: 5, isCurrent: true, severity: "problem" },
  ]);
});

describe("a run that health.stop has ended", () => {
  const stop = { "health.stop": ["learning_rate_high"] };

  /** One whose gradient explodes from the fourth step on, as long as the learning rate is high. */
  async function stopped() {
    const first = exploding(stop);
    await expect(first.trainer.train()).rejects.toMatchObject({
      code: "UNHEALTHY",
      message: expect.stringContaining("health.stop ends the run after step 5") as string,
      fields: { disease: "learning_rate_high", step: 5 },
    });
    const { runDir, outputDir } = first;
    expect(readdirSync(join(runDir, "checkpoints"))).toEqual(["000005"]);
    return (set: Record<string, unknown>) => exploding(set, runDir, outputDir);
  }

  it("goes on where the cause is repaired, and says what it looks at", async () => {
    const resumed = await stopped();
    const again = resumed({ ...stop, "training.learning_rate": 0.1 });
    expect(await again.trainer.train()).toMatchObject({ status: "completed", steps: 8 });
    expect(again.events.flatMap((e) => (e.type === "notice" ? [e.message] : []))).toContain(
      'The run has warned of "learning rate is too high" up to step 5. What those steps show does not end it again: health.stop looks at the steps from here on.',
    );
    expect(again.warned()).toEqual([]);
    expect(recorded(again.runDir)).toHaveLength(1);
  });

  it("ends again where the cause is still there, once two more steps show it, until the rule is taken out", async () => {
    const resumed = await stopped();
    await expect(resumed(stop).trainer.train()).rejects.toMatchObject({
      code: "UNHEALTHY",
      message: expect.stringContaining("is 5000, and was 1 at first (2 of the last 2") as string,
      fields: { step: 7 },
    });
    const last = resumed({});
    expect(await last.trainer.train()).toMatchObject({ status: "completed", steps: 8 });
    expect(recorded(last.runDir)).toHaveLength(1);
  });

  it("ends for another problem, which steps before the resume show and nobody was warned of", async () => {
    const resumed = await stopped();
    const again = resumed({
      "health.stop": ["learning_rate_high", "truncation"],
      "training.learning_rate": 0.1,
    });
    const lines = readLines(again.runDir, "metrics.jsonl").map((line) =>
      JSON.stringify({ ...line, "episode/truncated": 1 }),
    );
    writeFileSync(join(again.runDir, "metrics.jsonl"), `${lines.join("\n")}\n`);
    await expect(again.trainer.train()).rejects.toMatchObject({
      fields: { disease: "truncation", step: 6 },
    });
  });
});

it("looks at asynchronous runs, too", async () => {
  const run = exploding({ "async_training.enable": true });
  await run.trainer.train();
  expect(run.warned().map(([, disease]) => disease)).toContain("learning_rate_high");
});

it("does not look where it is switched off, and refuses names that it does not know", async () => {
  const off = exploding({ "health.enabled": false });
  await off.trainer.train();
  expect(off.warned()).toEqual([]);
  expect(await readRunHealth(off.runDir)).toMatchObject([{ warnedAt: null, isCurrent: true }]);
  expect(() => exploding({ "health.stop": ["boredom"] })).toThrow("health.stop");
});

it("reads what the run warned of first before what may follow from it", async () => {
  const folder = newFolder();
  const lines = (values: readonly object[]): string =>
    values.map((value) => `${JSON.stringify(value)}\n`).join("");
  const metrics = Array.from({ length: 10 }, (_, i) => ({
    step: i + 1,
    phase: "train",
    "reward/mean": 0.3,
    "reward/std": 0,
    "episode/truncated": 0.8,
  }));
  writeFileSync(join(folder, "metrics.jsonl"), lines(metrics));
  const warned = (step: number, disease: string) => ({
    type: "health",
    step,
    finding: { disease },
  });
  for (const order of [
    ["truncation", "no_reward_variance"],
    ["no_reward_variance", "truncation"],
  ] as const) {
    writeFileSync(join(folder, "events.jsonl"), lines([warned(3, order[0]), warned(8, order[1])]));
    const found = await readRunHealth(folder);
    expect(found.map(({ disease }) => disease)).toEqual([...order]);
  }
});
