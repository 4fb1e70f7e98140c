/** Names that options had before they were grouped by type: most are still those of rLLM. */
import { type CompatKey, from0, type Look, type Renamed, unset } from "./key-kinds.ts";

const algorithm: readonly CompatKey[] = [
  { from: "algorithm.adv_estimator", to: "algorithm.estimator.type" },
  { from: "algorithm.norm_adv_by_std_in_grpo", to: "algorithm.estimator.norm_by_std" },
  { from: "algorithm.estimator_map", to: "algorithm.estimator_by_role" },
  { from: "algorithm.loss_fn", to: "algorithm.loss.type" },
  { from: "algorithm.loss_fn_map", to: "algorithm.loss_by_role" },
  ...["eps_clip", "eps_clip_high", "clip_ratio_c"].map((name) => ({
    from: `algorithm.${name}`,
    to: `algorithm.loss.${name}`,
  })),
  { from: "algorithm.dro_beta", to: "algorithm.loss.beta" },
  { from: "algorithm.sapo_tau_pos", to: "algorithm.loss.tau_pos" },
  { from: "algorithm.sapo_tau_neg", to: "algorithm.loss.tau_neg" },
  { from: "algorithm.loss_agg_mode", to: "algorithm.aggregation.type" },
  { from: "algorithm.loss_scale_factor", to: "algorithm.aggregation.length" },
];

const warmup = "training.lr_schedule.warmup";

/** A number of steps; 0 leaves it to the fraction. */
export const warmupSteps = (from: string): Renamed => ({
  from,
  to: warmup,
  read: (value) => (from0(value) === 0 ? unset : from0(value)),
});

/** A fraction of all steps, where no number of them is given. */
export const warmupRatio = (from: string): Renamed => ({
  from,
  to: warmup,
  last: true,
  read: (value: unknown, look: Look) => (value === 0 || look(warmup) !== 0 ? unset : value),
  refuse: (value) =>
    value === 1 ? `a warm-up over all steps is written as their number, in ${warmup}` : undefined,
});

const training: readonly CompatKey[] = [
  warmupSteps("training.warmup_steps"),
  warmupRatio("training.warmup_steps_ratio"),
  { from: "training.min_lr_ratio", to: "training.lr_schedule.min_ratio" },
  { from: "guards.max_skipped_updates", to: "guards.on_non_finite.max_updates" },
  { from: "data.difficulty_key", to: "data.curriculum.difficulty_key" },
  { from: "fine_tuning.beta", to: "fine_tuning.loss.beta" },
];

const backends: readonly CompatKey[] = [
  { from: "verl.url", to: "verl.launcher.url" },
  { from: "verl.inference_nodes", to: "verl.placement.nodes" },
  { from: "verl.inference_gpus_per_node", to: "verl.placement.gpus_per_node" },
];

export const earlierKeys: readonly CompatKey[] = [...algorithm, ...training, ...backends];
