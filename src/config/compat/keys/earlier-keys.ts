/** Names that options had before they were grouped by type: most are still those of rLLM. */
import { type CompatKey, from0, idleKeys, type Look, type Renamed, unset } from "./key-kinds.ts";

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
  { from: "tinker_base_url", to: "tinker.base_url" },
  { from: "verl.url", to: "verl.launcher.url" },
  { from: "verl.inference_nodes", to: "verl.placement.nodes" },
  { from: "verl.inference_gpus_per_node", to: "verl.placement.gpus_per_node" },
];

const correction = "algorithm.rollout_correction";

const isWeighted = (look: Look): boolean =>
  ["token", "sequence"].includes(String(look(`${correction}.type`)));

const listed = (value: unknown): readonly string[] =>
  [value].flat().flatMap((part) =>
    String(part)
      .split(",")
      .map((text) => text.trim()),
  );

const corrections: readonly CompatKey[] = [
  { from: `${correction}.tis_mode`, to: `${correction}.type` },
  { from: `${correction}.tis_cap`, to: `${correction}.cap` },
  {
    from: `${correction}.rollout_is_batch_normalize`,
    to: `${correction}.batch_normalize`,
  },
  {
    from: `${correction}.bypass_mode`,
    to: `${correction}.type`,
    last: true,
    read: (value, look) => {
      if (typeof value !== "boolean" || isWeighted(look)) return unset;
      return value ? "none" : "recompute";
    },
    refuse: (value, look) =>
      value === true && isWeighted(look)
        ? `with ${correction}.type=${String(look(`${correction}.type`))} it would count the same ratio twice: in bypass mode the loss already contains it`
        : undefined,
  },
  {
    from: `${correction}.rollout_rs`,
    to: `${correction}.reject`,
    read: (value) => (value === null ? unset : listed(value)),
  },
  {
    from: `${correction}.rollout_rs_threshold`,
    to: `${correction}.reject`,
    last: true,
    // verl's two lists, entry by entry.
    read: (value, look) => {
      const names = look(`${correction}.reject`) as readonly string[];
      if (value === null || names.length === 0) return unset;
      const bounds = listed(value);
      return names.map((name, i) => `${name}=${bounds[i] ?? ""}`);
    },
    refuse: (value, look) => {
      const names = look(`${correction}.reject`) as readonly string[];
      const bounds = value === null ? [] : listed(value);
      return names.length > 0 && bounds.length > 0 && names.length !== bounds.length
        ? `there are ${names.length} rejections, but ${bounds.length} thresholds`
        : undefined;
    },
  },
];

/** Options that are gone, which runs on disk still have at these defaults. */
const gone: readonly CompatKey[] = [
  ...idleKeys("environment.", ["toolset", "secrets"], "no environment takes it", [null, []]),
  ...idleKeys(
    "replay.",
    ["tasks", "max_age", "capacity"],
    "rollouts are trained on in one step",
    [0, 4, 256],
  ),
  ...idleKeys(
    "data.curriculum.",
    ["sampling", "half_life"],
    "solve rates are sampled, and count half after 20 batches",
    ["thompson", 20],
  ),
  { from: "dataset.shuffle", idle: "the first tasks of a dataset are taken", usual: [false] },
  { from: "dataset.split_seed", idle: "every seed holds out the same tasks", usual: [0] },
];

export const earlierKeys: readonly CompatKey[] = [
  ...gone,
  ...algorithm,
  ...corrections,
  ...training,
  ...backends,
];
