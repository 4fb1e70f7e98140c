/** Warnings about combinations that are allowed but rarely intended. */
import { type EstimatorName, groupRelative } from "../../algorithms/catalog.ts";
import { warmupOf } from "../../algorithms/schedule.ts";
import { frozenRoles } from "../adapter-map.ts";
import type { TrainConfig } from "../train-config.ts";

/** Warnings for the user before the first step. */
export function startWarnings(config: TrainConfig, tasks: number, totalSteps: number): string[] {
  const warnings: string[] = [];
  const { trainBatchSize } = config.data;
  if (tasks < trainBatchSize) {
    const uses = config.rejectionSample.enable
      ? `each batch rolls out all ${tasks}, and a step trains on those that rejection_sample keeps`
      : `every step uses all ${tasks}`;
    warnings.push(
      `The training data has ${tasks} tasks, fewer than data.train_batch_size=${trainBatchSize}; ${uses}.`,
    );
  }
  if (
    config.rollout.n === 1 &&
    groupRelative.has(config.algorithm.estimator.type as EstimatorName)
  ) {
    warnings.push(
      `rollout.n=1 with algorithm.estimator=${config.algorithm.estimator.type}: a group of one has no other rollout to compare with, so only roles that occur several times in a rollout are trained.`,
    );
  }
  const warmup = warmupOf(config.training.lrSchedule.warmup, totalSteps);
  if (warmup >= totalSteps) {
    warnings.push(
      `The learning-rate warm-up of ${warmup} steps covers all ${totalSteps} steps of the run, so training.lr_schedule has no effect.`,
    );
  }
  const { estimator, klBeta, klEstimator } = config.algorithm;
  if (estimator.type === "gae" && estimator.criticWarmup >= totalSteps) {
    warnings.push(
      `algorithm.estimator.critic_warmup=${estimator.criticWarmup} covers all ${totalSteps} steps of the run, so only the critic learns and the policy stays as it is.`,
    );
  }
  if (klBeta > 0 && klEstimator === "k1") {
    warnings.push(
      `algorithm.kl_beta=${klBeta} with algorithm.kl_estimator=k1 hardly constrains the policy: the gradient of k1 in a loss is 0 on average. Use k2 or k3, or k1 in the reward (algorithm.use_kl_in_reward).`,
    );
  }
  warnings.push(...truncationWarnings(config), ...frozenNotices(config));
  return warnings;
}

/** Says which roles learn nothing. */
function frozenNotices({ model }: TrainConfig): string[] {
  const roles = frozenRoles(model.adapterByRole);
  if (roles.length === 0) return [];
  return [
    `model.adapter_by_role: ${roles.join(", ")} ${roles.length === 1 ? "is" : "are"} sampled from the base model without an adapter, and not trained.`,
  ];
}

/** Warns about tokens that are not sampled from the full distribution, which is the one that is trained. */
function truncationWarnings({ rollout }: TrainConfig): string[] {
  const { topP, topK, minP } = rollout.train;
  const changed = [
    ...(topP === 1 ? [] : [`top_p=${topP}`]),
    ...(topK === 0 ? [] : [`top_k=${topK}`]),
    ...(minP === 0 ? [] : [`min_p=${minP}`]),
  ];
  if (changed.length === 0) return [];
  return [
    `rollout.train.${changed.join(", ")}: tokens are sampled from a part of the distribution, but the full one is trained. Log-probabilities are those of the full one, too, so neither the loss's ratios nor algorithm.rollout_correction correct for the difference, except where an inference server returns log-probabilities after sampling parameters.`,
  ];
}
