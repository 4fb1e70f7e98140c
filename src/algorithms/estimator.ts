/** What an advantage estimator is: rewards of comparable trajectories in, one advantage each out. */

export interface EstimatorOptions {
  /** `grpo`, `grpo_passk`: divide by the group's standard deviation. Others do not read it. @default true */
  readonly normByStd: boolean;
  /** [group][member] sampled tokens of each rollout, at least 1; `opo` and `reinforce_plus_plus` read it. */
  readonly lengths: readonly (readonly number[])[];
}

/**
 * `groups[g][i]` is the reward of member i of group g; all groups are of one role. Returns the same
 * shape. Pure: same rewards, same advantages.
 */
export type AdvantageEstimator = (
  groups: readonly (readonly number[])[],
  options: EstimatorOptions,
) => readonly Float64Array[];
