/**
 * Combines the rewards of steps into the reward of their trajectory: bonus for progress, then
 * discounting. Pure.
 *
 * With raw rewards r, coefficient c and discount γ:
 *   shaped  s_i = r_i + c (r_i − r_{i−1}),  s_0 = r_0
 *   returns G_i = s_i + γ G_{i+1}           (only when γ > 0)
 */

export interface RewardShaping {
  /** Discount γ of later rewards, from 0 to 1; 0 sums the rewards without discounting. @default 0 */
  readonly gamma?: number;
  /** Coefficient c of the bonus for a reward above the previous one, at least 0. @default 0 */
  readonly rewardBonusCoeff?: number;
}

export interface ShapedRewards {
  /** [steps] shaped rewards; the discounted returns when γ > 0. */
  readonly steps: readonly number[];
  /** Reward of the trajectory: G_0 when γ > 0, else the sum of the shaped rewards. */
  readonly total: number;
}

export function shapeRewards(
  rewards: readonly number[],
  { gamma = 0, rewardBonusCoeff = 0 }: RewardShaping = {},
): ShapedRewards {
  const shaped = rewards.map(
    (reward, i) => reward + (i === 0 ? 0 : rewardBonusCoeff * (reward - (rewards[i - 1] ?? 0))),
  );
  if (gamma === 0) return { steps: shaped, total: shaped.reduce((sum, reward) => sum + reward, 0) };
  const returns: number[] = [];
  let next = 0;
  for (const reward of shaped.toReversed()) {
    next = reward + gamma * next;
    returns.push(next);
  }
  return { steps: returns.toReversed(), total: next };
}
