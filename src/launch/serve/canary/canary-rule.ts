/**
 * When a candidate in production is promoted or rolled back: by the difference of its mean feedback to that of
 * the version in use, with Newcombe's interval (hybrid score, method 10: Newcombe 1998, Stat. Med. 17:873).
 * Looks are at n, 2n, 4n ... pieces of feedback; look k spends 5 % / 2^k, so that all of them together are wrong
 * about a candidate that is no different in at most 5 % of trials, however long one takes.
 */

/** Pieces of feedback from 0 (bad) to 1 (good), and their sum. */
export interface Tally {
  readonly n: number;
  readonly sum: number;
}

export interface CanaryRule {
  /** Pieces of feedback that each version needs before the first look. */
  readonly minFeedback: number;
  /** Promoted where the lower bound of the difference lies above it. */
  readonly minGain: number;
  /** Rolled back where the upper bound of the difference lies below its negative. */
  readonly maxLoss: number;
}

/** What a look found. */
export interface CanaryLook {
  readonly verdict: "promote" | "roll back" | null;
  readonly difference: number;
  readonly low: number;
  readonly high: number;
}

/** Two-sided quantiles of the normal distribution at 5 % / 2^k for k from 1; later looks take the last. */
const quantiles = [
  2.241403, 2.497705, 2.734369, 2.955167, 3.162818, 3.359354, 3.546338, 3.725004, 3.896343,
  4.061167, 4.220149, 4.373857,
] as const;

/** Wilson's interval of a mean of values from 0 to 1; those between vary less than it allows for. */
function wilson({ n, sum }: Tally, z: number): { readonly low: number; readonly high: number } {
  const p = sum / n;
  const centre = p + z ** 2 / (2 * n);
  const half = z * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2));
  const scale = 1 + z ** 2 / n;
  return { low: (centre - half) / scale, high: (centre + half) / scale };
}

/** Of the mean of `a` minus that of `b`. */
export function differenceInterval(
  a: Tally,
  b: Tally,
  z: number,
): Pick<CanaryLook, "difference" | "low" | "high"> {
  const [p, q] = [a.sum / a.n, b.sum / b.n];
  const [first, second] = [wilson(a, z), wilson(b, z)];
  return {
    difference: p - q,
    low: p - q - Math.hypot(p - first.low, second.high - q),
    high: p - q + Math.hypot(first.high - p, q - second.low),
  };
}

/**
 * The next look, where there is enough feedback for one; null where there is not.
 * @param looks that were taken in this trial
 */
export function look(
  current: Tally,
  candidate: Tally,
  looks: number,
  { minFeedback, minGain, maxLoss }: CanaryRule,
): CanaryLook | null {
  if (Math.min(current.n, candidate.n) < minFeedback * 2 ** looks) return null;
  const z = quantiles[Math.min(looks, quantiles.length - 1)] as number;
  const found = differenceInterval(candidate, current, z);
  const verdict = found.high < -maxLoss ? "roll back" : found.low > minGain ? "promote" : null;
  return { verdict, ...found };
}
