/** Combinations that are allowed but seldom meant, as sentences for warning events. */
import { groupRelative } from "../../algorithms/catalog.ts";
import type { TrainConfig } from "./train-config.ts";

/** What the user should know before the first step. */
export function startWarnings(config: TrainConfig, tasks: number, totalSteps: number): string[] {
  const warnings: string[] = [];
  const { trainBatchSize } = config.data;
  if (tasks < trainBatchSize) {
    warnings.push(
      `The training data has ${tasks} tasks, fewer than data.train_batch_size=${trainBatchSize}; every step uses all ${tasks}.`,
    );
  }
  if (config.rollout.n === 1 && groupRelative.has(config.algorithm.advEstimator)) {
    warnings.push(
      `rollout.n=1 with algorithm.adv_estimator=${config.algorithm.advEstimator}: a group of one has nothing to be compared with, so only roles that occur several times in a rollout are trained.`,
    );
  }
  if (config.training.warmupSteps >= totalSteps) {
    warnings.push(
      `training.warmup_steps=${config.training.warmupSteps} covers all ${totalSteps} steps, so training.lr_schedule has no effect.`,
    );
  }
  return warnings;
}
