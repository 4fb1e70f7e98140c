/** One run of the demo with slow tools, in a process of its own. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { loadDemo } from "../../src/cli/load/load-demo.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { loadConfig } from "../../src/config/load.ts";
import { answer } from "../harness/child-side.ts";
import { slowAgent } from "./slow-tools.ts";

export interface TrainInput {
  readonly steps: number;
  readonly seed: number;
  readonly isAsync: boolean;
}

export interface TrainOutput {
  /** From the first step's beginning to the last one's end; validations left out. */
  readonly seconds: number;
  readonly validationBefore: number;
  readonly validationAfter: number;
  readonly maxStale: number;
  readonly waitingFraction: number;
}

const asyncOptions = {
  "async_training.enable": true,
  "async_training.staleness_threshold": 3,
};

answer(async ({ steps, seed, isAsync }: TrainInput): Promise<TrainOutput> => {
  const { configFile, evaluator, trainTasks, valTasks } = await loadDemo();
  await using backend = createLocalBackend();
  const rewards: number[] = [];
  const done: Readonly<Record<string, number>>[] = [];
  const { config } = loadConfig({
    file: configFile,
    overrides: {
      "trainer.total_batches": steps,
      "trainer.test_freq": 0,
      "trainer.save_freq": 0,
      "trainer.seed": seed,
      "trainer.output_dir": mkdtempSync(join(tmpdir(), "agent-trainer-bench-")),
      "workflow.n_parallel_tasks": 384,
      "rollout.n_val": 4,
      ...(isAsync ? asyncOptions : {}),
    },
  });
  let seconds = 0;
  let begun = 0;
  const trainer = new AgentTrainer({
    backend,
    config,
    evaluator,
    agentFlow: await slowAgent(),
    trainDataset: trainTasks,
    valDataset: valTasks,
    onEvent(event) {
      if (event.type === "step-start" && event.step === 1) begun = performance.now();
      if (event.type === "validation-end") rewards.push(event.metrics["val/reward/mean"] ?? 0);
      if (event.type !== "step-end") return;
      done.push(event.metrics);
      seconds = (performance.now() - begun) / 1000;
    },
  });
  await trainer.train();
  const share = (key: string): number =>
    done.reduce((sum, metrics) => sum + (metrics[key] ?? 0), 0) / done.length;
  return {
    seconds,
    validationBefore: rewards[0] ?? Number.NaN,
    validationAfter: rewards.at(-1) ?? Number.NaN,
    maxStale: Math.max(0, ...done.map((metrics) => metrics["async/staleness_max"] ?? 0)),
    waitingFraction: share("time/wait_fraction"),
  };
});
