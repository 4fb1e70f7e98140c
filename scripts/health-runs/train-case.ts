/** One run of the corpus, on the built-in model. */
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import type { DiseasedRun } from "./diseased.ts";
import type { RunCase } from "./healthy.ts";
import { trainTasks, valTasks } from "./tasks.ts";

const common = {
  "model.name": "builtin:shop-tiny",
  "model.lora_rank": 0,
  "data.train_batch_size": 8,
  "rollout.n": 8,
  "rollout.train.max_tokens": 64,
  "rollout.val.max_tokens": 64,
  "training.learning_rate": 7e-4,
  "trainer.total_batches": 24,
  "trainer.save_freq": 0,
  "trainer.test_freq": 0,
  "trainer.val_before_train": false,
};

/** @param options those of where the run goes, and others that the case leaves open */
export async function trainCase(
  run: RunCase | DiseasedRun,
  options: Readonly<Record<string, unknown>>,
): ReturnType<AgentTrainer["train"]> {
  await using backend = createLocalBackend({ threads: 1 });
  const config = { ...common, ...run.config, ...options };
  const trainer = new AgentTrainer({
    backend: "spoil" in run && run.spoil !== undefined ? run.spoil(backend) : backend,
    agentFlow: run.task.agent as never,
    evaluator: run.task.evaluator as never,
    trainDataset: trainTasks,
    ...(config["trainer.test_freq"] === 0 ? {} : { valDataset: valTasks }),
    config: config as never,
  });
  return trainer.train();
}
