/** Statistics of short lists of numbers, as the estimators and the metrics need them. */

/**
 * Rewards with a smaller population standard deviation than this differ only by rounding.
 */
const uniformTolerance = 1e-8;

/**
 * Arithmetic mean; 0 for an empty list. Summed as differences from the first value, so that the mean
 * of equal values is exactly that value and centering them gives exact zeros.
 */
export function mean(values: ArrayLike<number>): number {
  const first = values[0];
  if (first === undefined) return 0;
  let sum = 0;
  for (let i = 1; i < values.length; i++) sum += (values[i] ?? 0) - first;
  return first + sum / values.length;
}

/** Mean of `values` by `weights` of at least 0; 0 where they add up to 0. Exact for equal values. */
export function weightedMean(values: readonly number[], weights: readonly number[]): number {
  const first = values[0] ?? 0;
  let total = 0;
  let sum = 0;
  for (const [i, value] of values.entries()) {
    const weight = weights[i] ?? 0;
    total += weight;
    sum += weight * (value - first);
  }
  return total > 0 ? first + sum / total : 0;
}

/** Population standard deviation (divided by n, not n - 1); 0 for an empty list. */
export function populationStd(values: ArrayLike<number>): number {
  if (values.length === 0) return 0;
  const center = mean(values);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += ((values[i] ?? 0) - center) ** 2;
  return Math.sqrt(sum / values.length);
}

/** Standard deviation divided by n - 1; 0 for fewer than two values. */
export function unbiasedStd(values: ArrayLike<number>): number {
  const n = values.length;
  return n < 2 ? 0 : populationStd(values) * Math.sqrt(n / (n - 1));
}

/** Whether all values are the same, up to rounding. True for one value and for none. */
export function isUniform(values: ArrayLike<number>): boolean {
  return populationStd(values) < uniformTolerance;
}

/** Percentile with linear interpolation between neighbors; `percent` in [0, 100], at least one value. */
export function percentile(values: ArrayLike<number>, percent: number): number {
  const sorted = Float64Array.from(values).sort();
  const position = ((sorted.length - 1) * percent) / 100;
  const below = Math.floor(position);
  const low = sorted[below] ?? 0;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? 0;
  return low + (high - low) * (position - below);
}

/** `{prefix}/mean`, `/std`, `/max`, `/min`; nothing for an empty list. */
export function summarize(prefix: string, values: ArrayLike<number>): Record<string, number> {
  if (values.length === 0) return {};
  let max = -Infinity;
  let min = Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    if (value > max) max = value;
    if (value < min) min = value;
  }
  return {
    [`${prefix}/mean`]: mean(values),
    [`${prefix}/std`]: populationStd(values),
    [`${prefix}/max`]: max,
    [`${prefix}/min`]: min,
  };
}

/** All lists, one after the other. */
export function concatenated(lists: readonly ArrayLike<number>[]): Float64Array {
  const all = new Float64Array(lists.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}
