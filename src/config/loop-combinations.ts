/** Options of the loop that are right by themselves and wrong together. */
import type { TrainConfig } from "./train-config.ts";

/** What is wrong, as sentences. */
export function loopProblems(config: TrainConfig): string[] {
  return [...asyncProblems(config), ...rejectionProblems(config)];
}

function asyncProblems({ asyncTraining, trainer, rejectionSample, replay }: TrainConfig): string[] {
  const { enable, triggerParameterSyncStep: every } = asyncTraining;
  if (!enable) return [];
  const problems: string[] = [];
  if (trainer.testFreq % every !== 0) {
    problems.push(
      `trainer.test_freq=${trainer.testFreq} must be a multiple of async_training.trigger_parameter_sync_step=${every}: in between, other weights than the step's are served.`,
    );
  }
  if (replay.tasks > 0) {
    problems.push(
      "replay.tasks would exceed the bound on staleness of async_training.enable=true. Leave one of them out.",
    );
  }
  if (rejectionSample.enable && rejectionSample.multiplier !== 1) {
    problems.push(
      "rejection_sample.multiplier has no meaning with async_training.enable=true, where rollouts go on until there are enough. Leave it at 1.",
    );
  }
  if (rejectionSample.enable && rejectionSample.minPartialSolveTasks !== null) {
    problems.push(
      "rejection_sample.min_partial_solve_tasks has no meaning with async_training.enable=true: a step always takes mini_batch_size tasks. Leave it out.",
    );
  }
  return problems;
}

function rejectionProblems({ rejectionSample, data, rollout }: TrainConfig): string[] {
  const { enable, minPartialSolveTasks, minTrajsPerGroup } = rejectionSample;
  const problems: string[] = [];
  if (!enable) return problems;
  if (rollout.n === 1) {
    problems.push(
      "rejection_sample.enable=true with rollout.n=1 would leave out every task: one rollout is either right or wrong.",
    );
  }
  if (minTrajsPerGroup > rollout.n) {
    problems.push(
      `rejection_sample.min_trajs_per_group=${minTrajsPerGroup} is more than rollout.n=${rollout.n}, so every task would be left out.`,
    );
  }
  if (minPartialSolveTasks !== null && minPartialSolveTasks > data.trainBatchSize) {
    problems.push(
      `rejection_sample.min_partial_solve_tasks=${minPartialSolveTasks} is more than data.train_batch_size=${data.trainBatchSize}, which is all that a step takes.`,
    );
  }
  return problems;
}
