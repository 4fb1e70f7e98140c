/**
 * Estimators of KL(p, q) from one token that p sampled, with d = log p - log q
 * (http://joschu.net/blog/kl-approx.html).
 */
import { isLimited, limitLogRatio } from "./log-ratio.ts";
import type { KlEstimator } from "./loss.ts";

/** Limit of `k3` in penalties, as in verl: it grows with exp(-d), and one outlier must not dominate a batch. */
const maxK3 = 10;

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
