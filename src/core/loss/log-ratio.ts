/**
 * Limits on log-ratios l - o before exp, those of verl: an outlier must not turn a loss whose value is
 * finite into NaN. A token or row beyond a limit gets the ratio at the limit, and no gradient flows
 * through it.
 */
import type { KlEstimator } from "./loss.ts";

/** Limit of `k3` in penalties, as in verl: it grows with exp(-d), and one outlier must not dominate a batch. */
const maxK3 = 10;

/**
 * Estimators of KL(p, q) from one token that p sampled, with d = log p - log q
 * (http://joschu.net/blog/kl-approx.html).
 */
export function estimateKl(estimator: KlEstimator, difference: number): number {
  switch (estimator) {
    // Unbiased, can be negative; its gradient is 0 on average.
    case "k1":
      return difference;
    case "k2":
      return difference ** 2 / 2;
    // Unbiased and never negative.
    case "k3":
      return Math.exp(-difference) - 1 + difference;
  }
}

interface KlPenaltyTerm {
  readonly value: number;
  /** With respect to log p; 0 beyond a limit. */
  readonly gradient: number;
}

/** An estimate that is a penalty: `k3` has d within ±20 and is at most 10. */
export function penaltyOfKl(estimator: KlEstimator, difference: number): KlPenaltyTerm {
  if (estimator === "k1") return { value: difference, gradient: 1 };
  if (estimator === "k2") return { value: estimateKl("k2", difference), gradient: difference };
  const limited = limitLogRatio(difference);
  // Not by `estimateKl`: sums in another order would change the last digits of rewards.
  const value = Math.exp(-limited) + limited - 1;
  if (value >= maxK3) return { value: maxK3, gradient: 0 };
  return { value, gradient: isLimited(difference) ? 0 : 1 - Math.exp(-limited) };
}

/** Of a token. exp(20) is about 4.9e8, and exp(-20) about 2e-9. */
export const maxLogRatio = 20;

/** Of a row's mean, in `gspo`: from above only, as a small ratio harms nothing. */
export const largestRowLogRatio = 10;

/** Limited to ±20. */
export const limitLogRatio = (x: number): number =>
  Math.min(maxLogRatio, Math.max(-maxLogRatio, x));

/** exp(x), with x limited to ±20. */
export const ratioOf = (x: number): number => Math.exp(limitLogRatio(x));

/** A ratio within the bounds of a loss. */
export const clipRatio = (
  ratio: number,
  { epsClip, epsClipHigh }: { readonly epsClip: number; readonly epsClipHigh: number },
): number => Math.min(Math.max(ratio, 1 - epsClip), 1 + epsClipHigh);

/** Whether the limit applies, so that the ratio has no gradient. */
export const isLimited = (x: number): boolean => Math.abs(x) > maxLogRatio;
