/**
 * A KL penalty as a term of the advantages, for servers whose losses have none. At the weights that
 * sampled, where every ratio is 1, the gradient is that of the penalty itself: weight A' = weight A -
 * coef dKL/dl. The estimators: http://joschu.net/blog/kl-approx.html
 */
import { isLimited, limitLogRatio } from "../../core/log-ratio.ts";
import type { KlEstimator, KlSpec } from "../../core/loss.ts";
import type { TrainingRow } from "../../core/training-row.ts";

interface Estimate {
  readonly value: number;
  /** With respect to the policy's log-probability. */
  readonly gradient: number;
}

/** A single outlier must not dominate the batch; the embedded engine has the same limit. */
const maxK3 = 10;

/** @param difference log p of the policy minus log p of the reference. */
export function estimateKl(estimator: KlEstimator, difference: number): Estimate {
  switch (estimator) {
    case "k1":
      return { value: difference, gradient: 1 };
    case "k2":
      return { value: difference ** 2 / 2, gradient: difference };
    case "k3": {
      const x = limitLogRatio(-difference);
      const value = Math.exp(x) - 1 - x;
      if (value >= maxK3) return { value: maxK3, gradient: 0 };
      return { value, gradient: isLimited(difference) ? 0 : 1 - Math.exp(x) };
    }
  }
}

export interface FoldedPenalty {
  /** [row][length] to subtract from weight times advantage; 0 where nothing is trained. */
  readonly penalties: readonly Float32Array[];
  /** Mean of the estimate over trained tokens. */
  readonly mean: number;
}

/** @param reference [row][length] log-probabilities under the reference. */
export function foldPenalty(
  rows: readonly TrainingRow[],
  reference: readonly Float32Array[],
  { coef, estimator }: KlSpec,
): FoldedPenalty {
  let total = 0;
  let tokens = 0;
  const penalties = rows.map((row, r) => {
    const result = new Float32Array(row.tokens.length);
    for (let i = 1; i < result.length; i++) {
      if (row.targetMask[i] !== 1) continue;
      const difference = row.samplingLogprobs[i]! - reference[r]![i]!;
      const { value, gradient } = estimateKl(estimator, difference);
      total += value;
      tokens += 1;
      result[i] = coef * gradient;
    }
    return result;
  });
  return { penalties, mean: total / Math.max(1, tokens) };
}
