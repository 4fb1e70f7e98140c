/**
 * KL in the reward (Ziegler et al. 2019, arXiv:1909.08593): R_i' = R_i - coef * sum over the
 * trajectory's sampled tokens of an estimate of KL(policy, reference), with l the policy's
 * log-probability of a token and q the reference's:
 *
 * - `k1`: l - q
 * - `k2`: (l - q)^2 / 2
 * - `k3`: exp(q - l) - (q - l) - 1, at most 10 (http://joschu.net/blog/kl-approx.html)
 */
import { limitLogRatio } from "../core/log-ratio.ts";
import type { KlEstimator } from "../core/loss.ts";
import type { TrainingRow } from "../core/training-row.ts";

const maxK3 = 10;

/** @param difference log-probability under the policy minus that under the reference. */
export function klEstimate(estimator: KlEstimator, difference: number): number {
  switch (estimator) {
    case "k1":
      return difference;
    case "k2":
      return difference ** 2 / 2;
    case "k3": {
      const x = limitLogRatio(-difference);
      return Math.min(maxK3, Math.exp(x) - x - 1);
    }
  }
}

export interface KlPenalty {
  /** [row][length] of each trained token; 0 elsewhere. */
  readonly estimates: readonly Float64Array[];
  /** Mean over rows of the mean over their trained tokens, as verl reports it. */
  readonly mean: number;
}

/** `policy` and `reference`: [row][length] log-probabilities. */
export function klPenalty(
  rows: readonly TrainingRow[],
  policy: readonly Float32Array[],
  reference: readonly Float32Array[],
  estimator: KlEstimator,
): KlPenalty {
  let total = 0;
  const estimates = rows.map(({ targetMask }, r) => {
    const ofRow = new Float64Array(targetMask.length);
    let sum = 0;
    let tokens = 0;
    for (let i = 1; i < targetMask.length; i++) {
      if (targetMask[i] !== 1) continue;
      tokens++;
      const difference = (policy[r]?.[i] ?? 0) - (reference[r]?.[i] ?? 0);
      ofRow[i] = klEstimate(estimator, difference);
      sum += ofRow[i] as number;
    }
    total += sum / Math.max(1, tokens);
    return ofRow;
  });
  return { estimates, mean: total / Math.max(1, rows.length) };
}
