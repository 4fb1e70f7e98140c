import { expect, it } from "vitest";
import { createLocalBackend } from "../../../src/backends/local/index.ts";
import type { AgentConfig } from "../../../src/core/agent.ts";
import type { Task } from "../../../src/core/task.ts";
import { AgentTrainer } from "../../../src/launch/agent-trainer.ts";
import { request } from "../../rollout/gateway-run.ts";
import { newFolder, readLines } from "../coin-run.ts";

const tasks = ["mug", "clock", "chair"].map((item) => ({
  ...{ id: item, instruction: `How much do 3 ${item}s cost?`, metadata: {} },
}));

interface WrittenEpisode {
  readonly trajectories: readonly {
    readonly steps: readonly { readonly trace: { readonly weightVersion: number } }[];
  }[];
}

let endFirstStep = (): void => {};
const firstStep = new Promise<void>((resolve) => (endFirstStep = resolve));
let begun = 0;

/** Two calls; the weights change between those of the very first rollout. */
async function slowly(task: Task, config: AgentConfig): Promise<string> {
  const isFirst = begun++ === 0;
  const first = await request(config, task.instruction);
  if (isFirst) await firstStep;
  const second = await request(config, `${task.instruction} And ${first.content.length % 7}?`);
  return second.content;
}

it(
  "the local backend trains while it samples, within the bound, and goes on from a checkpoint",
  { timeout: 120_000 },
  async () => {
    const outputDir = newFolder();
    // No two rollouts of a group score alike, so that every step has a gradient.
    let scored = 0;
    const run = async (steps: number, resume: "auto" | false): Promise<string> => {
      await using backend = createLocalBackend({ threads: 1 });
      const trainer = new AgentTrainer({
        backend,
        agentFlow: slowly,
        evaluator: () => (scored++ % 8) / 7,
        trainDataset: tasks,
        resume,
        config: {
          "model.name": "builtin:shop-tiny",
          "trainer.output_dir": outputDir,
          "trainer.experiment_name": "run",
          "trainer.total_batches": steps,
          "trainer.save_freq": 2,
          "data.train_batch_size": 2,
          "rollout.n": 4,
          "rollout.train": { max_tokens: 16 },
          "training.learning_rate": 1e-3,
          "async_training.enable": true,
          "async_training.staleness_threshold": 2,
        },
      });
      let runDir = "";
      for await (const event of trainer.events()) {
        if (event.type === "run-start") ({ runDir } = event);
        if (event.type === "step-end") endFirstStep();
      }
      return runDir;
    };
    const runDir = await run(4, false);
    await run(8, "auto");
    const lines = readLines(runDir, "metrics.jsonl");
    expect(lines.map((line) => line["step"])).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const stale = lines.map((line) => Number(line["async/staleness_max"]));
    expect(Math.max(...stale)).toBeLessThanOrEqual(2);
    expect(Math.max(...stale)).toBeGreaterThan(0);
    // Where nothing is stale, the weights that train are those that sampled.
    const fresh = lines.filter((line) => line["async/staleness_max"] === 0);
    expect(fresh.length).toBeGreaterThan(0);
    for (const line of fresh) expect(line["train/logprob_abs_diff_mean"]).toBeLessThan(1e-4);
    const versions = lines.flatMap((line) =>
      readLines(runDir, "episodes", `${String(line["step"]).padStart(6, "0")}.jsonl`).flatMap(
        (episode) =>
          (episode as unknown as WrittenEpisode).trajectories.map(({ steps }) =>
            steps.map(({ trace }) => trace.weightVersion),
          ),
      ),
    );
    expect(versions).toHaveLength(8 * 2 * 4);
    expect(versions.some(([first, second]) => first !== second)).toBe(true);
  },
);
