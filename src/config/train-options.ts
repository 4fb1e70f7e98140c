/** Options of a run as code writes them; files and `key=value` lists are in `load.ts`. */
import type { EstimatorName } from "../algorithms/catalog.ts";
import type { AdvantageEstimator } from "../algorithms/estimator.ts";
import type { LossFunction } from "../algorithms/losses/loss-function.ts";
import type { LossName } from "../core/loss.ts";
import type { TrainConfig } from "./train-config.ts";

/** The same options, all optional. */
type Partly<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: Partly<T[K]> }
    : T;

type Algorithm = TrainConfig["algorithm"];
type TakesFunctions = "advEstimator" | "estimatorMap" | "lossFn" | "lossFnMap";

/** Options of `algorithm`, with functions in place of names. */
export interface AlgorithmOptions extends Partly<Omit<Algorithm, TakesFunctions>> {
  /** Advantage estimator, from rewards of a group to advantages: a name, or a function. @default "grpo" */
  readonly advEstimator?: Algorithm["advEstimator"] | AdvantageEstimator;
  /** Advantage estimators for single roles, which override `advEstimator`. @default none */
  readonly estimatorMap?:
    | Algorithm["estimatorMap"]
    | Readonly<Record<string, EstimatorName | AdvantageEstimator>>;
  /** The policy loss: a name, or a function. @default "ppo" */
  readonly lossFn?: Algorithm["lossFn"] | LossFunction;
  /** Policy losses for single roles, which override `lossFn`. @default none */
  readonly lossFnMap?: Algorithm["lossFnMap"] | Readonly<Record<string, LossName | LossFunction>>;
}

/** Single options by their dotted names, as in files and on the command line. */
interface DottedOptions {
  readonly [key: `${string}.${string}`]: unknown;
}

/**
 * Options of a run: any of them, in camelCase; all others have their defaults. Dotted names in snake_case
 * work, too, and override sections that come before them.
 *
 * @example
 * const config: TrainOptions = {
 *   model: { name: "builtin:shop-tiny" },
 *   rollout: { n: 16 },
 *   training: { learningRate: 5e-4 },
 * };
 */
export interface TrainOptions extends Partly<Omit<TrainConfig, "algorithm">>, DottedOptions {
  /** What is learned from a step's rollouts, and how. */
  readonly algorithm?: AlgorithmOptions;
}
