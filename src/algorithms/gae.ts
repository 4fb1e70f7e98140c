/**
 * Generalized advantage estimation (Schulman et al. 2016, arXiv:1506.02438), token by token, as in verl. With
 * V_t the value of what was there before token t was sampled, and r_t its reward:
 *
 *   delta_t = r_t + gamma V_(t+1) - V_t      A_t = delta_t + gamma lambda A_(t+1)      R_t = A_t + V_t
 *
 * t counts sampled tokens only: what the environment says between two of them is skipped.
 */

export interface GaeOptions {
  readonly gamma: number;
  readonly lambda: number;
}

export interface GaeResult {
  readonly advantages: Float64Array;
  /** What values are to become. */
  readonly returns: Float64Array;
}

/** Of the sampled tokens of one trajectory, in their order. */
export function estimateGae(
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  { gamma, lambda }: GaeOptions,
): GaeResult {
  const advantages = new Float64Array(rewards.length);
  const returns = new Float64Array(rewards.length);
  let [nextValue, next] = [0, 0];
  for (let t = rewards.length - 1; t >= 0; t--) {
    const value = values[t]!;
    next = rewards[t]! + gamma * nextValue - value + gamma * lambda * next;
    advantages[t] = next;
    returns[t] = next + value;
    nextValue = value;
  }
  return { advantages, returns };
}

/** Added to a variance, as in verl. */
const varianceEpsilon = 1e-8;

/** Mean 0 and unbiased variance 1 over all numbers of all lists: (x - mean) / sqrt(var + 1e-8), as in verl. */
export function whitened(lists: readonly Float64Array[]): readonly Float64Array[] {
  const { count, mean, squares } = moments(lists);
  const scale = count > 1 ? 1 / Math.sqrt(squares / (count - 1) + varianceEpsilon) : 0;
  return lists.map((list) => list.map((value) => (value - mean) * scale));
}

/**
 * How much of the returns' variance the values explain: 1 - Var(R - V) / Var(R). 1 is a perfect critic, 0 one
 * that knows no more than a constant, below 0 a worse one; null where all returns are equal.
 */
export function explainedVariance(
  returns: readonly Float64Array[],
  values: readonly Float64Array[],
): number | null {
  const total = moments(returns).squares;
  const errors = returns.map((list, i) => list.map((value, t) => value - values[i]![t]!));
  return total < 1e-12 ? null : 1 - moments(errors).squares / total;
}

/** `squares`: of differences from the mean. */
function moments(lists: readonly Float64Array[]) {
  const count = lists.reduce((sum, { length }) => sum + length, 0);
  const sumOf = (of: (value: number) => number): number =>
    lists.reduce((sum, list) => list.reduce((own, value) => own + of(value), sum), 0);
  const mean = count === 0 ? 0 : sumOf((value) => value) / count;
  return { count, mean, squares: sumOf((value) => (value - mean) ** 2) };
}
