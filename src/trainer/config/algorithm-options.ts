/** The options of `algorithm`, as code reads them; their meaning stands in `schema/`. */
import type { EstimatorName } from "../../algorithms/catalog.ts";
import type { WeightMode } from "../../algorithms/rollout-correction/importance-weights.ts";
import type { KlEstimator, LossAggregation, LossName } from "../../core/loss.ts";

/** What is done about rollouts that were not drawn by exactly the weights that train. */
export interface RolloutCorrectionOptions {
  readonly bypassMode: boolean | null;
  readonly tisMode: WeightMode | null;
  /** A cap, or `low_high`. */
  readonly tisCap: number | string;
  readonly rolloutIsBatchNormalize: boolean;
  /** Names with commas between them. */
  readonly rolloutRs: string | null;
  /** As many bounds. */
  readonly rolloutRsThreshold: string | null;
  readonly rolloutTokenVetoThreshold: number | null;
}

/** What is learnt from a step's rollouts, and how. */
export interface AlgorithmOptions {
  readonly advEstimator: EstimatorName;
  readonly normAdvByStdInGrpo: boolean;
  /** `role=estimator` each. */
  readonly estimatorMap: readonly string[];
  readonly lossFn: LossName;
  readonly lossAggMode: LossAggregation;
  readonly epsClip: number;
  readonly epsClipHigh: number | null;
  readonly clipRatioC: number | null;
  readonly klBeta: number;
  readonly klEstimator: KlEstimator;
  readonly entropyCoef: number;
  readonly filterUniformGroups: boolean | null;
  readonly rolloutCorrection: RolloutCorrectionOptions;
}
