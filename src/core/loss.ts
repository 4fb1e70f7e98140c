/** Which loss to minimise, as data. Formulas: `docs/algorithms.md`; each backend implements the names it lists. */

export const lossNames = ["importance_sampling", "ppo", "cross_entropy"] as const;
export type LossName = (typeof lossNames)[number];

/** How token losses become one number; see `rowFactors` in `aggregation.ts`. */
export const lossAggregations = [
  "token-mean",
  "token-sum",
  "seq-mean-token-sum",
  "seq-mean-token-mean",
] as const;
export type LossAggregation = (typeof lossAggregations)[number];

export interface LossSpec {
  readonly name: LossName;
  /** PPO: ratios below 1 - clipLow are clipped. @default 0.2 */
  readonly clipLow: number;
  /** PPO: ratios above 1 + clipHigh are clipped. @default 0.2 */
  readonly clipHigh: number;
  /** @default "token-mean" */
  readonly aggregation: LossAggregation;
}

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
