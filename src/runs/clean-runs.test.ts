import { mkdirSync, mkdtempSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "../core/errors.ts";
import { type BestValidation, type RunState, saveCheckpoint } from "./checkpoint.ts";
import { holdCheckpoint } from "./checkpoint-lease.ts";
import { cleanRuns } from "./clean-runs.ts";
import { lockRun } from "./run-lock.ts";
import { listRuns, readRun } from "./run-summary.ts";

let runs: string;
beforeEach(() => {
  runs = mkdtempSync(join(tmpdir(), "agent-trainer-runs-"));
});

const stateOf = (step: number, best: BestValidation | null): RunState => ({
  ...{ step, best, position: { next: step, pending: [] }, skippedUpdates: 0, weightVersion: step },
  ...{ hasUnservedWeights: false, resumeVersions: [], validatedStep: -1 },
  ...{ configHash: "c", dataHash: "d" },
});

interface Given {
  readonly model?: string;
  readonly rewards?: readonly number[];
  readonly validations?: Readonly<Record<number, number>>;
  readonly checkpoints?: readonly number[];
  readonly best?: BestValidation;
  readonly end?: string;
  /** After everything else. */
  readonly events?: string;
}

const lines = (values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

/** A run folder as the trainer leaves it. */
async function makeRun(name: string, given: Given): Promise<string> {
  const path = join(runs, name);
  const { model = "m", rewards = [], validations = {}, checkpoints = [], best, end } = given;
  mkdirSync(path);
  writeFileSync(
    join(path, "config.resolved.yaml"),
    `backend: local\nmodel: {name: "${model}"}\ntrainer: {best_metric: val/reward/mean}\n`,
  );
  const train = rewards.map((reward, i) => ({
    ...{ step: i + 1, phase: "train", "reward/mean": reward },
  }));
  const validation = Object.entries(validations).map(([step, value]) => ({
    ...{ step: Number(step), phase: "validation", "val/reward/mean": value },
  }));
  writeFileSync(join(path, "metrics.jsonl"), lines([...train, ...validation]));
  const events = [
    { type: "run-start", totalSteps: 9, step: 0 },
    ...(end === undefined ? [] : [{ type: "run-end", status: end, step: rewards.length }]),
  ];
  writeFileSync(join(path, "events.jsonl"), lines(events) + (given.events ?? ""));
  for (const step of checkpoints) {
    await saveCheckpoint(join(path, "checkpoints"), stateOf(step, best ?? null), (folder) =>
      writeFile(join(folder, "w"), "x".repeat(100)),
    );
  }
  return path;
}

const stepsIn = (path: string): number[] =>
  readdirSync(join(path, "checkpoints")).map(Number).toSorted();

describe("readRun", () => {
  it("reads status, steps, rewards, the best validation and sizes", async () => {
    const path = await makeRun("a", {
      ...{ rewards: [0.1, 0.5, 0.4], validations: { 0: 0.2, 2: 0.7, 3: 0.6 } },
      ...{ checkpoints: [2, 3], end: "completed" },
    });
    const run = await readRun(path);
    expect(run).toMatchObject({
      ...{ name: "a", path, model: "m", backend: "local", status: "completed" },
      ...{ steps: 3, totalSteps: 9, firstReward: 0.1, lastReward: 0.4 },
      ...{ firstLoss: null, lastLoss: null },
      ...{ bestValidation: { step: 2, value: 0.7, metric: "val/reward/mean" } },
    });
    expect(run.checkpoints.map(({ step }) => step)).toEqual([3, 2]);
    expect(run.checkpoints[0]!.bytes).toBeGreaterThan(100);
    expect(run.bytes).toBeGreaterThan(run.checkpoints[0]!.bytes * 2);
  });

  it("says of a run without an end that it was stopped, and of a resumed one too", async () => {
    expect(await readRun(await makeRun("a", {}))).toMatchObject({
      ...{ status: "stopped", steps: 0, firstReward: null, lastReward: null },
    });
    const resumed = lines([{ type: "run-start", totalSteps: 12, step: 3 }]);
    const again = await makeRun("b", { end: "interrupted", events: resumed });
    expect(await readRun(again)).toMatchObject({ status: "stopped", totalSteps: 12 });
  });

  it("says of a locked run that it is running, and ignores a line that is cut off", async () => {
    const path = await makeRun("a", { end: "failed", events: '{"type":"run-en' });
    expect(await readRun(path)).toMatchObject({ status: "failed" });
    const unlock = lockRun(path);
    expect(await readRun(path)).toMatchObject({ status: "running" });
    unlock();
  });

  it("refuses a folder without a run", async () => {
    await expect(readRun(runs)).rejects.toThrow(ConfigError);
    await expect(listRuns(join(runs, "absent"))).rejects.toThrow(ConfigError);
  });
});

describe("cleanRuns", () => {
  it("keeps the newest and the best, and deletes nothing in a dry run", async () => {
    const given = { checkpoints: [1, 2, 3, 4], best: { step: 2, value: 0.9 } };
    const path = await makeRun("a", given);
    const [planned] = await cleanRuns({ folder: runs, dryRun: true });
    expect(stepsIn(path)).toEqual([1, 2, 3, 4]);
    expect(planned).toMatchObject({ name: "a", deleted: [3, 1], kept: [4, 2], skipped: null });
    expect(await cleanRuns({ folder: runs })).toEqual([planned]);
    expect(stepsIn(path)).toEqual([2, 4]);
    expect(readdirSync(path)).not.toContain("run.lock");
    expect(await cleanRuns({ folder: runs })).toMatchObject([{ deleted: [], bytes: 0 }]);
  });

  it("never touches a locked run", async () => {
    const path = await makeRun("a", { checkpoints: [1, 2] });
    const unlock = lockRun(path);
    const [run] = await cleanRuns({ folder: runs });
    expect(run).toMatchObject({ deleted: [], skipped: "a process is using it" });
    expect(stepsIn(path)).toEqual([1, 2]);
    unlock();
  });

  it("keeps the newest intact checkpoint if newer ones are damaged", async () => {
    const path = await makeRun("a", { checkpoints: [1, 2, 3] });
    truncateSync(join(path, "checkpoints/000003/weights/w"), 1);
    const [run] = await cleanRuns({ folder: runs });
    expect(run).toMatchObject({ deleted: [1], kept: [3, 2] });
    truncateSync(join(path, "checkpoints/000002/weights/w"), 1);
    const [none] = await cleanRuns({ folder: runs });
    expect(none).toMatchObject({ deleted: [], skipped: "it has no intact checkpoint" });
  });

  it("keeps what another run names as its model", async () => {
    const path = await makeRun("a", { checkpoints: [1, 2, 3] });
    await makeRun("b", { model: join(path, "checkpoints/000001/weights") });
    await cleanRuns({ folder: runs });
    expect(stepsIn(path)).toEqual([1, 3]);
  });

  it("keeps what is in use, and deletes it once it is not", async () => {
    const path = await makeRun("a", { checkpoints: [1, 2, 3] });
    const release = holdCheckpoint(join(path, "checkpoints/000001"));
    const [held] = await cleanRuns({ folder: runs });
    expect(held).toMatchObject({ deleted: [2], kept: [3, 1] });
    release();
    const [released] = await cleanRuns({ folder: runs });
    expect(released).toMatchObject({ deleted: [1], kept: [3] });
  });
});
