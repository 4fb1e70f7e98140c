import type { CriticSpec } from "./value-loss.ts";

/** Names of all policy losses; a backend lists in its capabilities those that it computes. */
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
/** Name of a policy loss; formulas and papers are in `docs/algorithms.md`. */
export type LossName = (typeof lossNames)[number];

/** How token losses become one number; see `rowFactors` in `aggregation.ts`. */
export const lossAggregations = [
  "token-mean",
  "token-sum",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
  "seq-mean-token-sum-norm",
] as const;
/** How token losses become one number: an entry of {@link lossAggregations}. */
export type LossAggregation = (typeof lossAggregations)[number];

/** Estimators of KL(policy, reference) from sampled tokens; `k3` is also called `low_var_kl`. */
export const klEstimators = ["k1", "k2", "k3"] as const;
/** An entry of {@link klEstimators}; formulas: http://joschu.net/blog/kl-approx.html. */
export type KlEstimator = (typeof klEstimators)[number];

/**
 * A penalty on the KL divergence to the reference model: the model without its adapter, or the initial
 * weights.
 */
export interface KlSpec {
  /** At least 0; 0 measures the divergence without penalizing it. */
  readonly coef: number;
  /** How the divergence is estimated from sampled tokens. */
  readonly estimator: KlEstimator;
}

/** The loss of an update, as data. */
export interface LossSpec {
  /** The policy loss. */
  readonly name: LossName;
  /**
   * Ratios are limited from 1 - epsClip on (`ppo`, `cispo`, `gspo`); `gmpo` limits the log-ratio from
   * -epsClip on. In [0, 1], for `gmpo` any number from 0. @default 0.2
   */
  readonly epsClip: number;
  /** Likewise up to 1 + epsClipHigh, or epsClipHigh. At least 0; more than `epsClip` is "clip-higher". @default 0.2 */
  readonly epsClipHigh: number;
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
  /** How the critic learns from rows with `returns`. @default null, there is none */
  readonly critic?: CriticSpec | null;
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

/** PPO's clipped surrogate (arXiv:1707.06347) with clip range 0.2, averaged over tokens. */
export const defaultLoss: LossSpec = {
  name: "ppo",
  epsClip: 0.2,
  epsClipHigh: 0.2,
  aggregation: "token-mean",
};

/** AdamW with decoupled weight decay (Loshchilov & Hutter 2019, arXiv:1711.05101). */
export interface OptimSpec {
  /** Step size; schedules change it from update to update. */
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
  /** In place of `learningRate`, by the name of an adapter of `ModelSpec.adapters` or `default`. @default none */
  readonly adapterLearningRates?: Readonly<Record<string, number>>;
}

/** Numbers of the optimizer, which each backend supports or not; rates of adapters come with adapters. */
export type OptimField = Exclude<keyof OptimSpec, "adapterLearningRates">;

/**
 * AdamW with learning rate 1e-4, betas 0.9 and 0.95, without weight decay, gradients clipped to norm
 * 1.
 */
export const defaultOptim: OptimSpec = {
  learningRate: 1e-4,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};
