// Traps of loops, by their numbers in test/known-traps.md.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { coinBackend } from "./coin-backend.ts";
import {
  coinAgent,
  coinTasks,
  coinTrainer,
  type CoinTrainerOptions,
  newFolder,
  readLines,
} from "./coin-run.ts";

const modes = [
  ["in turns", {}],
  ["overlapped", { "async_training.enable": true, "async_training.staleness_threshold": 2 }],
] as const;

interface WrittenEpisode {
  readonly task: { readonly id: string };
  readonly trajectories: readonly {
    readonly steps: readonly { readonly trace: { readonly weightVersion: number } }[];
  }[];
}

/** A few milliseconds per rollout, so that several are under way. */
const slowly: CoinTrainerOptions["agentFlow"] = async (task, config) => {
  const answer = await coinAgent(task, config);
  await new Promise((resolve) => setTimeout(resolve, task.id.charCodeAt(5) % 7));
  return answer;
};

const train = async (options: CoinTrainerOptions) => {
  const made = coinTrainer({ agentFlow: slowly, ...options });
  const result = await made.trainer.train();
  return { ...made, result, lines: readLines(result.runDir, "metrics.jsonl") };
};

describe.each(modes)("%s", (_mode, mode) => {
  it("W17: as many steps as asked for, the last checkpoint named after the last one, nothing divided by a save_freq of 0", async () => {
    const set = { ...mode, "trainer.total_batches": 3, "trainer.save_freq": 0 };
    const { result, lines } = await train({ set });
    expect(lines.map((line) => line["step"])).toEqual([1, 2, 3]);
    expect(lines.map((line) => line["progress/done_fraction"])).toEqual([1 / 3, 2 / 3, 1]);
    expect(readdirSync(join(result.runDir, "checkpoints"))).toEqual(["000003"]);
  });

  it("W31: the length may be given in epochs alone", async () => {
    const { result } = await train({
      set: { ...mode, "trainer.total_batches": -1, "trainer.total_epochs": 2 },
    });
    // Five tasks twice, two at a time.
    expect(result).toMatchObject({ status: "completed", steps: 5 });
  });

  it("W19: a first validation that fails ends the run as any other failure does", async () => {
    const outputDir = newFolder();
    const { trainer, events } = coinTrainer({
      outputDir,
      valDataset: coinTasks.slice(0, 1),
      evaluator: () => {
        throw new Error("no judge");
      },
      set: { ...mode },
    });
    await expect(trainer.train()).rejects.toMatchObject({ code: "TOO_MANY_FAILURES" });
    expect(events.at(-1)).toMatchObject({ type: "run-end", status: "failed" });
    expect(existsSync(join(outputDir, "coin", "run.lock"))).toBe(false);
  });

  it("W29: validates at the end, counts epochs, keeps ids of tasks and writes every episode", async () => {
    const set = { ...mode, "trainer.total_batches": 5 };
    const { result, lines, events } = await train({ set, valDataset: coinTasks.slice(0, 2) });
    const validated = events.filter(({ type }) => type === "validation-end");
    expect(validated.map(({ step }) => step)).toEqual([0, 5]);
    expect(lines.at(-2)).toMatchObject({ step: 5, "progress/epoch": 2 });
    const episodes = [1, 2, 3, 4, 5].flatMap((step) =>
      readLines(result.runDir, "episodes", `00000${step}.jsonl`),
    ) as unknown as WrittenEpisode[];
    expect(episodes).toHaveLength(5 * 2 * 4);
    const ids = new Set(coinTasks.map(({ id }) => id));
    expect(episodes.every(({ task }) => ids.has(task.id))).toBe(true);
  });

  it("W30: calls carry the version that was served, and staleness is counted from it", async () => {
    const backend = coinBackend();
    const set = {
      ...mode,
      "trainer.total_batches": 8,
      "algorithm.filter_uniform_groups": false,
    };
    const { result, lines } = await train({ set, backend });
    const oldest = lines.map((line) => {
      const episodes = readLines(
        result.runDir,
        "episodes",
        `${String(line["step"]).padStart(6, "0")}.jsonl`,
      ) as unknown as WrittenEpisode[];
      return Math.min(
        ...episodes.flatMap(({ trajectories }) =>
          trajectories.flatMap(({ steps }) => steps.map((step) => step.trace.weightVersion)),
        ),
      );
    });
    // Version k - 1 is served while step k trains.
    const behind = oldest.map((version, i) => i - version);
    const staleness = lines.map((line) => line["async/staleness_max"] ?? 0);
    expect(behind).toEqual(staleness);
    expect(oldest.at(-1)).toBeGreaterThan(0);
  });
});
