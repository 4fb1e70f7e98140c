/**
 * The paired test of `compare`, and its interval: a 95 % confidence interval for the centre of differences
 * that are symmetric about it, from the means of random subsets of them ("typical values": Hartigan 1969,
 * J. Am. Stat. Assoc. 64:1303). It leaves out 0 exactly where the two-sided sign-flip permutation test of the
 * mean rejects equality at 5 %: flipping the signs of a subset A reverses the sum where A's mean is beyond 0.
 */
import { createRandom } from "../../util/random.ts";

/** Ends of a confidence interval; null where so few values allow none at this level: fewer than 6. */
export interface TypicalInterval {
  readonly low: number | null;
  readonly high: number | null;
}

/** Of either side. */
const tail = 0.025;
/** Up to this many values, every subset; of more, `subsets` random ones. */
const maxExact = 13;
/** With the empty one, which flips nothing. */
const subsets = 4_000;
/** Sums that differ by rounding alone are equal. */
const tolerance = 1e-12;

/** Means of the subsets; of random ones, each value is in a subset with a chance of one half. */
function subsetMeans(values: Float64Array, random: () => number): Float64Array {
  const isExact = values.length <= maxExact;
  const means = new Float64Array((isExact ? 2 ** values.length : subsets) - 1);
  for (let set = 1; set <= means.length; set++) {
    let bits = set;
    let sum = 0;
    let count = 0;
    for (let i = 0; i < values.length; i++) {
      if (!isExact && i % 32 === 0) bits = Math.floor(random() * 2 ** 32);
      if (((bits >>> (i % 32)) & 1) === 0) continue;
      sum += values[i] as number;
      count++;
    }
    means[set - 1] = sum / Math.max(1, count);
  }
  return means;
}

/** @param values at least one. @param seed of the random subsets, where there are too many for all. */
export function typicalInterval(values: readonly number[], seed: number): TypicalInterval {
  const scale = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const sorted = subsetMeans(Float64Array.from(values), createRandom(seed))
    .map((mean) => (Math.abs(mean) < tolerance * scale ? 0 : mean))
    .sort();
  const outside = Math.floor(tail * (sorted.length + 1));
  if (outside === 0) return { low: null, high: null };
  return {
    low: sorted[outside - 1] as number,
    high: sorted[sorted.length - outside] as number,
  };
}
