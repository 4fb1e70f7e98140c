/** What watches a run watches fine-tuning, too: trackers, a budget, health, guards, early stopping. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TrainerEvent } from "../../src/core/events.ts";
import type { Tracker } from "../../src/core/tracker.ts";
import { fineTune, type FineTuneOptions } from "../../src/launch/finetune/fine-tune.ts";
import { readLines } from "../trainer/coin-run.ts";
import { fakeBackend } from "./fake-backend.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "fine-tune-"));
const rows = Array.from({ length: 6 }, (_, i) => ({ prompt: `Q${i}`, completion: `A${i}` }));
const losses = [3, 2, 1, 1.5, 1.2, 1.1, 0.5];

interface Sections {
  readonly trainer?: object;
  readonly [section: string]: unknown;
}

/** Six steps with a validation after each, unless `set` says otherwise. */
function run({ trainer, ...set }: Sections, rest: Partial<FineTuneOptions> = {}) {
  return fineTune({
    backend: fakeBackend(losses),
    config: {
      model: { name: "fake" },
      data: { trainBatchSize: 2 },
      ...set,
      trainer: {
        ...{ totalBatches: 6, testFreq: 1, saveFreq: 1 },
        ...{ outputDir: newFolder(), experimentName: "watched" },
        ...trainer,
      },
    },
    train: rows,
    val: rows.slice(0, 2),
    ...rest,
  });
}

it("tells trackers what happens, those of the options and those of code", async () => {
  const seen: TrainerEvent["type"][] = [];
  let isClosed = false;
  const tracker: Tracker = {
    name: "seen",
    events: ["run-start", "step-end", "validation-end", "run-end"],
    track: ({ type }) => void seen.push(type),
    close: () => void (isClosed = true),
  };
  const set = { tracking: { trackers: ["tensorboard"] }, trainer: { totalBatches: 2 } };
  const { runDir } = await run(set, { trackers: [tracker] });
  const step: TrainerEvent["type"][] = ["step-end", "validation-end"];
  expect(seen).toEqual(["run-start", "validation-end", ...step, ...step, "run-end"]);
  expect(isClosed).toBe(true);
  expect(readdirSync(runDir, { recursive: true }).join()).toContain("tfevents");
});

describe("a budget", () => {
  it("ends the run after a complete step, also the one that is resumed", async () => {
    const outputDir = newFolder();
    const all = await run({ budget: { tokens: 1e9 } });
    const [first, second] = readLines(all.runDir, "metrics.jsonl")
      .filter(({ phase }) => phase === "train")
      .map((line) => Number(line["spent/tokens"]));
    const set = { budget: { tokens: second! + 1 }, trainer: { outputDir } };
    const result = await run(set);
    expect(result).toMatchObject({ status: "out_of_budget", steps: 2, stoppedEarly: false });
    expect(result.message).toContain(`budget.tokens=${second! + 1}`);
    expect(first).toBeGreaterThan(0);
    expect(result.metrics!["spent/trained_tokens"]).toBe(second);
    const again = await run(set, { resume: "auto" });
    expect(again).toMatchObject({ status: "out_of_budget", steps: 2 });
  });

  it("in dollars needs prices", async () => {
    await expect(run({ budget: { usd: 1 } })).rejects.toThrow(/no price is known/u);
    const prices = { prompt: 1, sampled: 1, trained: 1 };
    let estimate: string | undefined;
    const onEvent = (event: TrainerEvent): void => {
      if (event.type === "run-start") estimate = event.estimate;
    };
    // Twice all of the examples, without validations.
    const set = { budget: { usd: 1, prices }, trainer: { testFreq: 0, valBeforeTrain: false } };
    const { metrics } = await run(set, { onEvent });
    const { "spent/trained_tokens": tokens, "spent/usd": usd } = metrics!;
    expect(usd).toBeCloseTo(tokens! / 1e6, 12);
    expect(estimate).toContain(`about ${tokens!.toLocaleString("en-US")} tokens`);
  });
});

it("ends where health.stop names what its metrics show", async () => {
  const findings: string[] = [];
  const onEvent = (event: TrainerEvent): void => {
    if (event.type === "health") findings.push(event.finding.disease);
  };
  const set = { training: { learningRate: 0 }, health: { stop: ["learning_rate_low"] } };
  await expect(run(set, { onEvent })).rejects.toMatchObject({ code: "UNHEALTHY" });
  expect(findings).toEqual(["learning_rate_low"]);
});

it("skips an update that is not finite where the guards say so, and else fails", async () => {
  const broken = () => fakeBackend([3, NaN, 2, 1]);
  await expect(run({}, { backend: broken() })).rejects.toMatchObject({ code: "NUMERICS" });
  const set = { guards: { onNonFinite: "skip" }, trainer: { totalBatches: 3, testFreq: 0 } };
  const { runDir, steps } = await run(set, { backend: broken() });
  expect(steps).toBe(3);
  const lines = readLines(runDir, "metrics.jsonl").filter(({ phase }) => phase === "train");
  expect(lines.map((line) => line["train/skipped_updates"])).toEqual([0, 1, 0]);
});

describe("early stopping", () => {
  it("is that of all runs", async () => {
    const warnings: string[] = [];
    const onEvent = (event: TrainerEvent): void => {
      if (event.type === "warning") warnings.push(event.message);
    };
    const result = await run({ trainer: { earlyStoppingPatience: 2 } }, { onEvent });
    expect(result).toMatchObject({ stoppedEarly: true, steps: 4, best: { step: 2 } });
    expect(warnings.join()).toContain("(trainer.early_stopping_patience=2)");
    expect(warnings.join()).not.toContain("does not read");
  });

  it("is off without held-out examples, which a warning says", async () => {
    const warnings: string[] = [];
    const onEvent = (event: TrainerEvent): void => {
      if (event.type === "warning") warnings.push(event.message);
    };
    const config = {
      model: { name: "fake" },
      trainer: { totalBatches: 1, earlyStoppingPatience: 2, outputDir: newFolder() },
    };
    await fineTune({ backend: fakeBackend(losses), config, train: rows, onEvent });
    expect(warnings.join()).toContain("does not read");
    expect(warnings.join()).toContain("trainer.early_stopping_patience");
  });

  it("counts on after a checkpoint of an earlier version, which leaves the count to the run log", async () => {
    const outputDir = newFolder();
    const set = { fineTuning: { patience: 2 }, trainer: { outputDir } };
    const stop = new AbortController();
    const first = await run(set, {
      signal: stop.signal,
      onEvent: ({ type, step }) => {
        if (type === "validation-end" && step === 3) stop.abort();
      },
    });
    expect(first).toMatchObject({ status: "interrupted", steps: 3 });
    const path = join(first.checkpoint!, "state.json");
    const { patience, ...state } = JSON.parse(readFileSync(path, "utf8")) as { patience: unknown };
    expect(patience).toMatchObject({ waited: 1 });
    const text = JSON.stringify(state);
    writeFileSync(path, text);
    const hash = createHash("sha256").update(text).digest("hex");
    writeFileSync(join(first.checkpoint!, "state.sha256"), `${hash}  state.json\n`);
    const second = await run(set, { resume: "auto" });
    expect(second).toMatchObject({ stoppedEarly: true, steps: 4 });
  });
});

it("only measures with trainer.val_only", async () => {
  const backend = fakeBackend(losses);
  const result = await run({ trainer: { valOnly: true } }, { backend });
  expect(result).toMatchObject({ status: "completed", steps: 0, stoppedEarly: false });
  expect(result.validation!["val/loss"]).toBeCloseTo(3, 6);
  expect(backend.updates).toEqual([]);
  expect(existsSync(join(result.runDir, "checkpoints/000000"))).toBe(false);
});
