/**
 * The mean over seeds with its 95 % confidence interval by Student's t. Values are means over many rollouts,
 * which are close to normal; a sign-flip test, as `compare` makes of tasks, cannot reach 5 % with five seeds.
 */

/** Ends of the interval are null for fewer than two values. */
export interface MeanInterval {
  readonly mean: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** Upper 2.5 % points of t for 1 to 10 degrees of freedom. */
const quantiles = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622, 2.2281];
const normal = 1.959964;

/** Above ten degrees of freedom by the expansion of Cornish and Fisher, to four digits. */
export function tQuantile(freedom: number): number {
  const known = quantiles[freedom - 1];
  if (known !== undefined) return known;
  const [z, v] = [normal, freedom];
  return (
    z +
    (z ** 3 + z) / (4 * v) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * v ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * v ** 3)
  );
}

/** @param values at least one */
export function meanInterval(values: readonly number[]): MeanInterval {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { mean, low: null, high: null };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = tQuantile(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { mean, low: mean - half, high: mean + half };
}
