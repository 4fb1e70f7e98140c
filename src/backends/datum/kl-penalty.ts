/**
 * A KL penalty as a term of the advantages, for servers whose losses have none. At the weights that
 * sampled, where every ratio is 1, the gradient is that of the penalty itself: weight A' = weight A -
 * coef dKL/dl.
 */
import { penaltyOfKl } from "../../core/loss/kl.ts";
import type { KlSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";

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
      const { value, gradient } = penaltyOfKl(estimator, difference);
      total += value;
      tokens += 1;
      result[i] = coef * gradient;
    }
    return result;
  });
  return { penalties, mean: total / Math.max(1, tokens) };
}
