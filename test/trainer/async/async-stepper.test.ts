import { describe, expect, it } from "vitest";
import { packRollouts, unpackRollouts } from "../../../src/runs/stored-rollouts.ts";
import { createRandom } from "../../../src/util/random.ts";
import { type RolloutPlan, Simulation, type SimulationOptions } from "./simulated-run.ts";

/** Heavy-tailed: most rollouts take 1 to 3, one in ten 20 to 200. */
function heavyTail(random: () => number): RolloutPlan["pauses"] {
  const total = random() < 0.1 ? 20 + 180 * random() : 1 + 2 * random();
  const calls = 1 + Math.floor(3 * random());
  return Array.from({ length: calls }, () => total / calls);
}

const stalest = ({ trained }: Simulation): number =>
  Math.max(
    ...trained.flatMap(({ row, served }) =>
      row.segments.flatMap(({ kind, weightVersion }) =>
        kind === "response" ? [served - weightVersion] : [],
      ),
    ),
  );

/** Every task that was trained on, by its place in the data. */
const places = ({ trained }: Simulation): number[] =>
  [...new Set(trained.map(({ row }) => row.provenance.episodeId))]
    .map((id) => Number(id.split("/")[0]))
    .sort((a, b) => a - b);

const once = (list: readonly number[]): boolean => new Set(list).size * 2 === list.length;

interface Case {
  readonly steps: number;
  readonly set: Readonly<Record<string, unknown>>;
  readonly failing: number;
  readonly uniform: number;
  readonly updateMs: number;
  readonly metricsMs: number;
}

function randomCase(random: () => number): Case {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  return {
    steps: 6 + Math.floor(random() * 10),
    set: {
      "data.train_batch_size": pick([1, 2, 3, 5]),
      "workflow.n_parallel_tasks": pick([1, 3, 16, 64]),
      "async_training.staleness_threshold": pick([0, 0.5, 1, 2, 3.5]),
      "async_training.trigger_parameter_sync_step": pick([1, 2, 3]),
      "async_training.partial_rollout": random() < 0.5,
      "rejection_sample.enable": random() < 0.5,
      "trainer.max_failed_fraction": 1,
    },
    failing: pick([0, 0, 0.1, 0.4]),
    uniform: pick([0, 0.3]),
    updateMs: pick([0, 1, 10, 50]),
    metricsMs: pick([0, 1, 10]),
  };
}

function simulationOf(made: Case, random: () => number): Simulation {
  const { steps, set, failing, uniform, updateMs, metricsMs } = made;
  return new Simulation({
    ...{ steps, set, updateMs, metricsMs },
    rollout: () => ({
      pauses: heavyTail(random),
      fails: random() < failing,
      ...(random() < uniform ? { reward: 1 } : {}),
    }),
  });
}

describe("overlapped steps", () => {
  it.each(Array.from({ length: 60 }, (_, seed) => seed))(
    "W32: never train on anything older than the bound, and never lock up (case %i)",
    async (seed) => {
      const random = createRandom(seed);
      const made = randomCase(random);
      const simulation = simulationOf(made, random);
      await simulation.run();
      const bound = Math.ceil(Number(made.set["async_training.staleness_threshold"]));
      expect(simulation.metrics).toHaveLength(made.steps);
      if (simulation.trained.length > 0) expect(stalest(simulation)).toBeLessThanOrEqual(bound);
      expect(simulation.maxRunning).toBeLessThanOrEqual(
        Number(made.set["workflow.n_parallel_tasks"]),
      );
      const ids = simulation.trained.map(({ row }) => row.provenance.episodeId);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  it.each(Array.from({ length: 40 }, (_, seed) => seed))(
    "W21: lose no task and train on none twice, however often the process is killed (case %i)",
    async (seed) => {
      const random = createRandom(1000 + seed);
      const made = { ...randomCase(random), failing: 0, uniform: 0 };
      const simulation = simulationOf(made, random);
      let saved = await simulation.run(null, 1 + Math.floor(random() * 3));
      while (saved.step < made.steps) {
        const rollouts = unpackRollouts(packRollouts(saved.snapshot.rollouts));
        expect(rollouts).toEqual(saved.snapshot.rollouts);
        const next = Math.min(made.steps, saved.step + 1 + Math.floor(random() * 3));
        saved = await simulation.run({ ...saved, snapshot: { ...saved.snapshot, rollouts } }, next);
      }
      const used = simulation.trained.map(({ row }) => row.provenance.episodeId);
      const size = Number(made.set["data.train_batch_size"]);
      expect(new Set(used).size).toBe(used.length);
      expect(used).toHaveLength(made.steps * size * 2);
      expect(stalest(simulation)).toBeLessThanOrEqual(
        Math.ceil(Number(made.set["async_training.staleness_threshold"])),
      );
      // Places are used from the first on, without a gap: nothing was lost.
      expect([...new Set(places(simulation))]).toEqual(
        Array.from({ length: made.steps * size }, (_, place) => place),
      );
      expect(once(places(simulation))).toBe(true);
    },
  );
});

const steady =
  (pause: number): SimulationOptions["rollout"] =>
  () => ({ pauses: [pause] });

describe("the pace", () => {
  const time = async (options: SimulationOptions): Promise<number> => {
    const simulation = new Simulation(options);
    await simulation.run();
    return simulation.clock.now;
  };
  const enough = { "workflow.n_parallel_tasks": 64 };

  it("is that of turns when nothing may be stale", async () => {
    const set = { ...enough, "async_training.staleness_threshold": 0 };
    expect(await time({ steps: 5, set, rollout: steady(30), updateMs: 20 })).toBe(5 * (30 + 20));
  });

  it("is that of the slower side when rollouts may run ahead", async () => {
    const set = { ...enough, "async_training.staleness_threshold": 1 };
    // The first step waits for its rollouts; from then on they are ready when they are needed.
    expect(await time({ steps: 5, set, rollout: steady(20), updateMs: 30 })).toBe(20 + 5 * 30);
  });

  it("does not wait for a straggler before it must", async () => {
    let begun = 0;
    const simulation = new Simulation({
      steps: 4,
      set: { ...enough, "async_training.staleness_threshold": 1 },
      updateMs: 10,
      rollout: () => ({ pauses: [begun++ === 0 ? 1000 : 1] }),
    });
    await simulation.run();
    const waited = simulation.trained.find(({ row }) => row.provenance.episodeId.startsWith("0/"));
    // Begun before the first exchange, so it may still be trained on in step 2, and must be.
    expect(waited).toMatchObject({ step: 2, served: 1 });
    expect(simulation.trained.some(({ step }) => step === 1)).toBe(true);
  });
});

describe("exchanges of weights", () => {
  it("come every few steps, and after the last one", async () => {
    const set = {
      "async_training.trigger_parameter_sync_step": 3,
      "async_training.staleness_threshold": 1,
    };
    const simulation = new Simulation({ steps: 7, set, rollout: steady(5) });
    await simulation.run();
    expect(simulation.metrics.map((metrics) => metrics["weight_version"])).toEqual([
      0, 0, 1, 1, 1, 2, 3,
    ]);
  });

  it("leave rollouts under way alone, whose tokens keep the version that drew them", async () => {
    const simulation = new Simulation({
      steps: 6,
      set: { "async_training.staleness_threshold": 2 },
      rollout: () => ({ pauses: [7, 7, 7] }),
    });
    await simulation.run();
    expect(simulation.exchanges.some(({ running }) => running > 0)).toBe(true);
    const mixed = simulation.trained.filter(({ row }) => {
      const versions = row.segments.flatMap((s) =>
        s.kind === "response" ? [s.weightVersion] : [],
      );
      return new Set(versions).size > 1;
    });
    expect(mixed.length).toBeGreaterThan(0);
    for (const { row } of mixed) {
      for (const { kind, start, end, weightVersion } of row.segments) {
        if (kind !== "response") continue;
        const sampled = Array.from(row.samplingLogprobs.subarray(start, end));
        // The simulated policy of version v draws token i with log-probability -0.5 - v/64 - i/4096.
        expect(sampled).toEqual(sampled.map((_, i) => -0.5 - weightVersion / 64 - i / 4096));
      }
    }
  });

  it("wait for rollouts under way where partial_rollout is off", async () => {
    const simulation = new Simulation({
      steps: 6,
      set: {
        "async_training.staleness_threshold": 2,
        "async_training.partial_rollout": false,
      },
      rollout: () => ({ pauses: [7, 7, 7] }),
    });
    await simulation.run();
    expect(simulation.exchanges).toHaveLength(6);
    expect(simulation.exchanges.every(({ running }) => running === 0)).toBe(true);
  });
});

describe("failures", () => {
  it("of whole tasks bring others in, without a lock-up", async () => {
    const simulation = new Simulation({
      steps: 5,
      set: { "trainer.max_failed_fraction": 1 },
      rollout: ({ episodeId }) => ({
        pauses: [5],
        fails: Number(episodeId.split("/")[0]) % 2 === 0,
      }),
    });
    await simulation.run();
    expect(simulation.trained).toHaveLength(5 * 3 * 2);
    expect(places(simulation).every((place) => place % 2 === 1)).toBe(true);
    const dropped = simulation.metrics.map((metrics) => metrics["async/dropped_failed"] ?? 0);
    expect(dropped.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(14);
  });

  it("of too many rollouts end the run with the last error", async () => {
    const simulation = new Simulation({
      steps: 5,
      rollout: () => ({ pauses: [5], fails: true }),
    });
    await expect(simulation.run()).rejects.toMatchObject({ code: "TOO_MANY_FAILURES" });
  });

  it("W28: of what runs rollouts reach the training loop", async () => {
    const simulation = new Simulation({
      steps: 5,
      rollout: ({ episodeId }) => {
        if (episodeId.startsWith("4/")) throw new Error("the runner broke");
        return { pauses: [5] };
      },
    });
    await expect(simulation.run()).rejects.toThrow("the runner broke");
  });
});

describe("rejection sampling", () => {
  it("goes on until a step has enough to compare, and never for ever", async () => {
    const simulation = new Simulation({
      steps: 4,
      set: { "rejection_sample.enable": true, "rejection_sample.max_batches": 3 },
      rollout: ({ episodeId }) => ({
        pauses: [5],
        ...(Number(episodeId.split("/")[0]) % 3 === 0 ? {} : { reward: 1 }),
      }),
    });
    await simulation.run();
    expect(places(simulation).every((place) => place % 3 === 0)).toBe(true);
    const all = new Simulation({
      steps: 4,
      set: { "rejection_sample.enable": true, "rejection_sample.max_batches": 3 },
      rollout: () => ({ pauses: [5], reward: 1 }),
    });
    await all.run();
    expect(all.metrics.map((metrics) => metrics["train/skipped_steps"])).toEqual([1, 1, 1, 1]);
  });
});
