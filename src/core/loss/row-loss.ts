/**
 * A policy loss in numbers: its terms and its gradient for the trained tokens of one row. For losses that
 * a backend does not support; those that it supports are its own graphs or kernels. Formulas:
 * `docs/algorithms.md`.
 */

/** The n trained tokens of one row, in their order; every list is [n]. */
export interface LossRow {
  /** Name of the trajectory. */
  readonly role: string;
  /** log p(token) under the weights being trained. */
  readonly logprobs: Float64Array;
  /** log p(token) when it was sampled, or what rollout correction replaced it with. */
  readonly samplingLogprobs: Float64Array;
  readonly advantages: Float64Array;
  /** Factors on the terms, of rollout correction for example; 1 without any. */
  readonly weights: Float64Array;
}

/** The loss of each trained token of one row, with its gradient. [n] is the number of trained tokens. */
export interface RowLossValue {
  /** [n] the loss of each token, before its weight unless `isWeighted`. */
  readonly terms: Float64Array;
  /** [n] gradient of the sum of weights times terms with respect to each of `logprobs`. */
  readonly gradient: Float64Array;
  /** Tokens at which the ratio was clipped. @default the loss has no limit */
  readonly clipped?: number;
  /** The terms already include their weights. @default false */
  readonly isWeighted?: boolean;
}

/** Pure. */
export type RowLoss = (row: LossRow) => RowLossValue;

/** One trained token. */
export interface LossToken {
  /** log p(token) under the weights being trained. */
  readonly logprob: number;
  readonly samplingLogprob: number;
  readonly advantage: number;
  /** Mean over the row of `logprob - samplingLogprob`. */
  readonly meanLogRatio: number;
}

export interface TokenTerm {
  readonly term: number;
  /** d term / d logprob. */
  readonly gradient: number;
  readonly isClipped?: boolean;
}

/** A loss whose terms depend only on their own token's log-probability, as far as gradients are concerned. */
export function perToken(of: (token: LossToken) => TokenTerm): RowLoss {
  return ({ logprobs, samplingLogprobs, advantages, weights }) => {
    const terms = new Float64Array(logprobs.length);
    const gradient = new Float64Array(logprobs.length);
    const meanLogRatio = rowMean(logprobs, (l, i) => l - samplingLogprobs[i]!);
    let clipped: number | undefined;
    for (const [i, logprob] of logprobs.entries()) {
      const samplingLogprob = samplingLogprobs[i]!;
      const advantage = advantages[i]!;
      const found = of({ logprob, samplingLogprob, advantage, meanLogRatio });
      terms[i] = found.term;
      gradient[i] = weights[i]! * found.gradient;
      if (found.isClipped !== undefined) clipped = (clipped ?? 0) + (found.isClipped ? 1 : 0);
    }
    return { terms, gradient, ...(clipped === undefined ? {} : { clipped }) };
  };
}

/** 0 for an empty row. */
export function rowMean(
  values: Float64Array,
  of: (value: number, i: number) => number = (value) => value,
): number {
  let sum = 0;
  for (const [i, value] of values.entries()) sum += of(value, i);
  return values.length === 0 ? 0 : sum / values.length;
}
