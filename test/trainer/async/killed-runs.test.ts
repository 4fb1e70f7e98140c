/**
 * Runs on the virtual clock that are killed and interrupted at random times, also while a checkpoint is
 * written, and resumed from what is on disk. `SOAK=1` tries many more of them.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newestCheckpoint } from "../../../src/runs/checkpoint.ts";
import { createRandom } from "../../../src/util/random.ts";
import { newCrashFolder } from "../crash/crash-runs.ts";
import { type Ending, Simulation, updatesOf } from "./simulated-run.ts";

const runs = process.env["SOAK"] === "1" ? 500 : 20;
const rolloutsPerTask = 2;

const placeOf = (key: string): number => Number(key.split("/")[0]);
const upTo = (end: number): number[] => Array.from({ length: end }, (_, i) => i);

interface Case {
  readonly simulation: Simulation;
  readonly size: number;
  readonly bound: number;
  readonly steps: number;
}

function randomCase(random: () => number): Case {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const size = pick([1, 2, 3, 5]);
  const threshold = pick([0, 0.5, 1, 2, 3.5]);
  const steps = 6 + Math.floor(random() * 8);
  const simulation = new Simulation({
    steps,
    set: {
      "data.train_batch_size": size,
      "workflow.n_parallel_tasks": pick([1, 3, 16, 64]),
      "async_training.staleness_threshold": threshold,
      "async_training.trigger_parameter_sync_step": pick([1, 2, 3, 4]),
      "async_training.partial_rollout": random() < 0.5,
      "trainer.save_freq": pick([1, 1, 2, 3]),
    },
    updateMs: pick([1, 10, 50]),
    saveMs: pick([1, 10, 40]),
    rollout: () => ({ pauses: [1 + 10 * random(), random() < 0.1 ? 100 * random() : random()] }),
  });
  return { simulation, size, bound: Math.ceil(threshold), steps };
}

/** Every task that was begun is trained on, ready, or to be done again: one of them, and once. */
async function expectWhole(folder: string, { simulation }: Case): Promise<void> {
  const checkpoint = await newestCheckpoint(folder, (error) => {
    throw error;
  });
  if (checkpoint === null) return;
  const { next, pending } = checkpoint.state.position;
  const { trained } = JSON.parse(
    await readFile(join(checkpoint.weights, "weights.json"), "utf8"),
  ) as { trained: number };
  const used = new Set(
    simulation.trained.slice(0, trained).map(({ row }) => placeOf(row.provenance.episodeId)),
  );
  const ready = checkpoint.rollouts.map(({ key }) => placeOf(key));
  const all = [...used, ...ready, ...pending].sort((a, b) => a - b);
  expect(all).toEqual(upTo(next));
}

describe("asynchronous runs that are killed, interrupted and resumed", () => {
  it.each(upTo(runs))(
    "train on each task once and only once, and no version names two sets of weights (case %i)",
    async (seed) => {
      const random = createRandom(7000 + seed);
      const made = randomCase(random);
      const { simulation, size, bound, steps } = made;
      const folder = newCrashFolder();
      let endings = 0;
      for (;;) {
        const ending: Ending | null =
          endings < 8 ? { afterMs: 200 * random(), kind: random() < 0.5 ? "kill" : "abort" } : null;
        const result = await simulation.process(folder, ending);
        await expectWhole(folder, made);
        if (result?.status === "completed") break;
        endings++;
      }
      const ids = simulation.trained.map(({ row }) => row.provenance.episodeId);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toHaveLength(steps * size * rolloutsPerTask);
      expect([...new Set(ids.map(placeOf))].sort((a, b) => a - b)).toEqual(upTo(steps * size));
      // The log-probability of a first token says which weights drew it.
      const sampledBy = new Map<number, Set<number>>();
      for (const { row } of simulation.trained) {
        for (const { kind, start, weightVersion } of row.segments) {
          if (kind === "prompt") continue;
          const weights = sampledBy.get(weightVersion) ?? new Set();
          sampledBy.set(weightVersion, weights.add(updatesOf(row.samplingLogprobs[start]!)));
        }
      }
      for (const [version, weights] of sampledBy)
        expect([...weights], `version ${version}`).toHaveLength(1);
      for (const metrics of simulation.metrics)
        expect(metrics["async/staleness_max"]).toBeLessThanOrEqual(bound);
      await rm(folder, { recursive: true });
    },
    60_000,
  );
});
