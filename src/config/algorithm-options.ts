/** The options of `algorithm`, as code reads them; their meaning stands in `schema/`. */
import type { CustomName, EstimatorName } from "../algorithms/catalog.ts";
import type { LogprobTemperature } from "../algorithms/step-logprobs.ts";
import type { WeightMode } from "../algorithms/rollout-correction/importance-weights.ts";
import type { KlEstimator, LossAggregation, LossName } from "../core/loss.ts";

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
  /** `gae` is known by name and refused: no backend has a value model. */
  readonly advEstimator: EstimatorName | CustomName | "gae";
  readonly normAdvByStdInGrpo: boolean;
  /** `role=estimator` each. */
  readonly estimatorMap: readonly string[];
  readonly lossFn: LossName | CustomName;
  /** `role=loss` each. */
  readonly lossFnMap: readonly string[];
  readonly lossAggMode: LossAggregation;
  readonly lossScaleFactor: number | null;
  /** Null is the loss's own default: `defaultClipOf`. */
  readonly epsClip: number | null;
  readonly epsClipHigh: number | null;
  readonly clipRatioC: number | null;
  readonly droBeta: number;
  readonly sapoTauPos: number;
  readonly sapoTauNeg: number;
  readonly logprobTemperature: LogprobTemperature;
  readonly klBeta: number;
  readonly klEstimator: KlEstimator;
  readonly entropyCoef: number;
  readonly filterUniformGroups: boolean | null;
  readonly usePrecomputedAdvantage: boolean;
  readonly useKlInReward: boolean;
  readonly klPenalty: KlEstimator;
  readonly klCtrl: { readonly klCoef: number };
  readonly overlongBuffer: {
    readonly enable: boolean;
    readonly len: number;
    readonly penaltyFactor: number;
    readonly maxLength: number | null;
  };
  readonly maskTruncatedSamples: boolean;
  readonly rolloutCorrection: RolloutCorrectionOptions;
}

/** Advantages of steps in place of trajectories. */
export interface StepwiseAdvantageOptions {
  readonly enable: boolean;
  readonly mode: "broadcast" | "per_step";
  readonly gamma: number;
  readonly normalizeBySteps: boolean;
}

/** Which rollouts are left out by how they ended. */
export interface CompactFilteringOptions {
  readonly enable: boolean;
  readonly maskMaxPromptLengthExceeded: boolean;
  readonly maskMaxResponseLengthExceeded: boolean;
  readonly maskEnvDone: boolean;
  readonly maskMaxTurnsExceeded: boolean;
  readonly maskTimeout: boolean;
  readonly maskUnknown: boolean;
  readonly maskError: boolean;
}
