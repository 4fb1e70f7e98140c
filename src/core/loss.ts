/**
 * Which loss to minimize, as data. Each backend implements the names that its capabilities list; an
 * option outside of them is refused by name. Formulas: `docs/algorithms.md`.
 *
 * The contract, per trained token with log-probability l now, o when sampled (`samplingLogprobs`, or
 * whatever a caller puts there, such as a recomputed one) and q under the reference:
 *
 *   sum over tokens of factor (weight term(l, o, A) + kl.coef KL(l, q) - entropyCoef H)
 *
 * with the row's `weights` and `advantages`, and the factor of `rowFactors` (`aggregation.ts`).
 */

export const lossNames = [
  "importance_sampling",
  "ppo",
  "cispo",
  "gspo",
  "gmpo",
  "sapo",
  "dro",
  "cross_entropy",
] as const;
export type LossName = (typeof lossNames)[number];

/** How token losses become one number; see `rowFactors` in `aggregation.ts`. */
export const lossAggregations = [
  "token-mean",
  "token-sum",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
  "seq-mean-token-sum-norm",
] as const;
export type LossAggregation = (typeof lossAggregations)[number];

/** Estimators of KL(policy, reference) from sampled tokens; `k3` is also called `low_var_kl`. */
export const klEstimators = ["k1", "k2", "k3"] as const;
export type KlEstimator = (typeof klEstimators)[number];

/**
 * A penalty on the KL divergence to the reference model: the model without its adapter, or the initial
 * weights.
 */
export interface KlSpec {
  /** At least 0; 0 measures the divergence without penalizing it. */
  readonly coef: number;
  readonly estimator: KlEstimator;
}

export interface LossSpec {
  readonly name: LossName;
  /**
   * Ratios are limited from 1 - clipLow on (`ppo`, `cispo`, `gspo`); `gmpo` limits the log-ratio from
   * -clipLow on. In [0, 1], for `gmpo` any number from 0. @default 0.2
   */
  readonly clipLow: number;
  /** Likewise up to 1 + clipHigh, or clipHigh. At least 0; more than `clipLow` is "clip-higher". @default 0.2 */
  readonly clipHigh: number;
  /** @default "token-mean" */
  readonly aggregation: LossAggregation;
  /** `seq-mean-token-sum-norm`: the constant to divide by. @default tokens from the first to the last trained one, in the row with most */
  readonly aggregationLength?: number;
  /** `ppo`: a token with a negative advantage A loses at most dualClip |A| (arXiv:1912.09729). Above 1. @default null, no limit */
  readonly dualClip?: number | null;
  /** `dro`: strength of the quadratic term, above 0. @default 0.05 */
  readonly droBeta?: number;
  /** `sapo`: temperature of the gate for positive advantages, above 0. @default 1 */
  readonly sapoTauPositive?: number;
  /** `sapo`: likewise for negative ones. @default 1.05 */
  readonly sapoTauNegative?: number;
  /** @default null */
  readonly kl?: KlSpec | null;
  /** Bonus for the entropy of the full distribution at each trained token, in nats. @default 0 */
  readonly entropyCoef?: number;
}

/** Default clip range of each loss: the values of its paper. */
export interface ClipBounds {
  readonly low: number;
  readonly high: number;
}

const usualClip: ClipBounds = { low: 0.2, high: 0.2 };

/** A row's ratio is a geometric mean, so it moves far less than that of a token (arXiv:2507.18071). */
const ownClips: ReadonlyMap<string, ClipBounds> = new Map([["gspo", { low: 3e-4, high: 4e-4 }]]);

export function defaultClipOf(loss: string): ClipBounds {
  return ownClips.get(loss) ?? usualClip;
}

/** Added to weights before their geometric mean in `gmpo`, as in verl: a weight of 0 has a logarithm. */
export const leastWeight = 1e-10;

export const defaultLoss: LossSpec = {
  name: "ppo",
  clipLow: 0.2,
  clipHigh: 0.2,
  aggregation: "token-mean",
};

/** AdamW with decoupled weight decay (Loshchilov & Hutter 2019, arXiv:1711.05101). */
export interface OptimSpec {
  readonly learningRate: number;
  /** @default 0.9 */
  readonly beta1: number;
  /** @default 0.95 */
  readonly beta2: number;
  /** @default 1e-8 */
  readonly eps: number;
  /** @default 0 */
  readonly weightDecay: number;
  /** Gradients are scaled down to this global L2 norm; 0 = never. @default 1 */
  readonly maxGradNorm: number;
}

export const defaultOptim: OptimSpec = {
  learningRate: 1e-4,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};
