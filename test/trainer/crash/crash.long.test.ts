import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { CrashRun } from "./crash-child.ts";
import { listCheckpoints, readCheckpoint } from "../../../src/runs/checkpoint.ts";
import { type Line, readLines, withoutClock } from "../coin-run.ts";
import { bundleProgram } from "../../bundle-program.ts";
import { newCrashFolder, runChild, surviveKills } from "./crash-runs.ts";

/** Kills of each kind of run; more of them with SOAK=1, or as AGENT_TRAINER_KILLS says. */
const usual = process.env["SOAK"] === "1" ? 200 : 8;
const wanted = Number(process.env["AGENT_TRAINER_KILLS"] ?? usual);
const steps = 10;
const withinMs = 250;
const limitMs = 300_000 + 6000 * wanted;

let child = "";
beforeAll(async () => {
  child = await bundleProgram(join(import.meta.dirname, "crash-child.ts"));
});

const numbers = (runDir: string): Line[] => readLines(runDir, "metrics.jsonl").map(withoutClock);
const coin = (runDir: string): unknown =>
  JSON.parse(
    readFileSync(join(runDir, "checkpoints", `0000${steps}`, "weights", "coin.json"), "utf8"),
  );

/** Until there have been enough kills: fresh runs, killed until they end. */
async function killed(
  set: Readonly<Record<string, unknown>>,
  check: (runDir: string, result: Line) => void | Promise<void>,
  more: Partial<CrashRun> = {},
): Promise<number> {
  let kills = 0;
  for (let seed = 0; kills < wanted; seed++) {
    const outputDir = newCrashFolder();
    const run = { outputDir, steps, set, ...more };
    // Whole runs are short, so one is killed a few times at most, and there are many of them.
    const survived = await surviveKills(child, run, { seed, withinMs, most: 12 });
    kills += survived.kills;
    await check(join(outputDir, "coin"), survived.result);
  }
  return kills;
}

/** A task that was begun is trained on, ready or to be done again: one of these, in each checkpoint. */
async function expectTasksOnce(runDir: string): Promise<void> {
  const root = join(runDir, "checkpoints");
  for (const step of await listCheckpoints(root)) {
    const { state, rollouts } = await readCheckpoint(root, step);
    const ready = rollouts.map(({ key }) => Number(key.split("/")[0]));
    const places = [...ready, ...state.position.pending];
    expect(new Set(places).size, `step ${step}: ${places.join()}`).toBe(places.length);
    expect(places).toHaveLength(state.position.next - 2 * step);
  }
}

describe.concurrent("kill -9 at random moments", () => {
  it.each([
    ["one batch per step", {}],
    [
      "rejection sampling",
      {
        "rejection_sample.enable": true,
        "training.ppo_epochs": 2,
      },
    ],
  ])(
    "in turns, %s: ends with the weights and metrics of an uninterrupted run, bit by bit",
    async (_, set) => {
      const outputDir = newCrashFolder();
      await runChild(child, { outputDir, steps, set }, null);
      const whole = join(outputDir, "coin");
      const kills = await killed(set, (runDir, result) => {
        expect(result).toMatchObject({ status: "completed", steps });
        expect(numbers(runDir)).toEqual(numbers(whole));
        expect(coin(runDir)).toEqual(coin(whole));
      });
      expect(kills).toBeGreaterThanOrEqual(wanted);
    },
    limitMs,
  );

  it.each([
    ["one rollout at a time", { "workflow.n_parallel_tasks": 1 }, {}],
    ["many at a time", { "async_training.trigger_parameter_sync_step": 2 }, {}],
    [
      "rollouts that end while a checkpoint is written, between two weight syncs",
      { "async_training.trigger_parameter_sync_step": 4, "workflow.n_parallel_tasks": 8 },
      { saveMs: 15, rolloutMs: 40 },
    ],
  ])(
    "overlapped, %s: no step is lost or done twice, and no task is trained on twice",
    async (_, more, slow) => {
      const set = {
        "async_training.enable": true,
        "async_training.staleness_threshold": 2,
        "trainer.keep_checkpoints": steps,
        ...more,
      };
      const kills = await killed(
        set,
        async (runDir, result) => {
          expect(result).toMatchObject({ status: "completed", steps });
          await expectTasksOnce(runDir);
          const train = numbers(runDir).filter((line) => line["phase"] === "train");
          expect(train.map((line) => line["step"])).toEqual(
            Array.from({ length: steps }, (_step, i) => i + 1),
          );
          const updates = train.reduce((sum, line) => sum + Number(line["train/updates"]), 0);
          expect(coin(runDir)).toMatchObject({ updates });
          expect(
            Math.max(...train.map((line) => Number(line["async/staleness_max"]))),
          ).toBeLessThan(3);
          const ids = train.flatMap((line) =>
            readLines(runDir, "episodes", `${String(line["step"]).padStart(6, "0")}.jsonl`),
          );
          const places = ids.map(({ id }) => String(id).split("/")[0]);
          expect(ids).toHaveLength(steps * 2 * 4);
          expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
          expect(new Set(places).size).toBe(steps * 2);
          expect(Math.max(...places.map(Number))).toBe(steps * 2 - 1);
        },
        slow,
      );
      expect(kills).toBeGreaterThanOrEqual(wanted);
    },
    limitMs,
  );
});
