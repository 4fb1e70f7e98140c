/**
 * What is minimized, in numbers: a loss's terms, a KL penalty to a reference and an entropy bonus, each token with its
 * factor (the formula is in `src/core/loss/loss.ts`). The engine gives log-probabilities and takes their coefficients.
 */
import { penaltyOfKl } from "../../core/loss/kl.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import { rowLossOf } from "../../core/loss/row-losses.ts";

/** The trained tokens of one row; every list is [n]. */
export interface ObjectiveRow {
  readonly logprobs: Float64Array;
  readonly samplingLogprobs: Float64Array;
  readonly advantages: Float64Array;
  readonly weights: Float64Array;
  /** Where the loss has a KL penalty. */
  readonly referenceLogprobs: Float64Array | null;
  /** Where the loss has an entropy bonus. */
  readonly entropies: Float64Array | null;
  /** On every term: the aggregation. */
  readonly factor: number;
}

export interface ObjectiveValue {
  readonly loss: number;
  /** d loss / d log-probability of each token. */
  readonly coefficients: Float64Array;
  /** Tokens at which the ratio was clipped, of a loss that has a limit. */
  readonly clipped: number | null;
  readonly kl: number | null;
  readonly entropy: number | null;
}

/** One function for all rows of an update. */
export function objectiveOf(spec: LossSpec): (row: ObjectiveRow) => ObjectiveValue {
  const lossOfRow = rowLossOf(spec.name, spec);
  const entropyCoef = spec.entropyCoef ?? 0;
  return (row) => {
    const { logprobs, weights, referenceLogprobs, entropies, factor } = row;
    const { terms, gradient, clipped, isWeighted = false } = lossOfRow({ role: "", ...row });
    const coefficients = new Float64Array(logprobs.length);
    let [loss, kl, entropy] = [0, 0, 0];
    for (const [i, logprob] of logprobs.entries()) {
      let term = isWeighted ? terms[i]! : terms[i]! * weights[i]!;
      let own = gradient[i]!;
      if (referenceLogprobs !== null) {
        const penalty = penaltyOfKl(spec.kl!.estimator, logprob - referenceLogprobs[i]!);
        kl += penalty.value;
        term += spec.kl!.coef * penalty.value;
        own += spec.kl!.coef * penalty.gradient;
      }
      if (entropies !== null) {
        entropy += entropies[i]!;
        term -= entropyCoef * entropies[i]!;
      }
      loss += factor * term;
      coefficients[i] = factor * own;
    }
    return {
      loss,
      coefficients,
      clipped: clipped ?? null,
      kl: referenceLogprobs === null ? null : kl,
      entropy: entropies === null ? null : entropy,
    };
  };
}
