/** Metrics that the trainer and its reports read by name, so that the compiler knows them; `docs/metrics.md` has all. */

export const readMetrics = [
  "groups/count",
  "groups/dropped/excluded_episodes",
  "groups/dropped/invalid_reward",
  "groups/dropped/no_reward",
  "groups/dropped/uniform_groups",
  "groups/dropped/uniform_trajectories",
  "groups/dropped/untrained",
  "groups/trajectories_after",
  "reward/mean",
  "rollout/episodes",
  "rollout/failed",
  "rollout/pass@1",
  "rollout/unused",
  "rollout/unused_calls",
  "rollout_correction/rollout_rs_seq_dropped_fraction",
  "rows/count",
  "rows/dropped/truncated",
  "spent/tokens",
  "spent/usd",
  "time/step_s",
  "tokens/per_s",
  "train/critic_warmup",
  "train/loss",
  "train/skipped_steps",
] as const;

/** Metrics of a step, by name; of those, the ones that are read here. */
export type NamedMetrics = Partial<Record<(typeof readMetrics)[number], number>>;
