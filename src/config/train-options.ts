/** Options of a run as code writes them; files and `key=value` lists are in `load.ts`. */
import type { AdvantageEstimator } from "../algorithms/estimators.ts";
import type { LossFunction } from "../algorithms/losses/loss-function.ts";
import type { AlgorithmNames, AlgorithmValues, Sections } from "./train-config.ts";

type EstimatorOption = NonNullable<AlgorithmNames["estimator"]>;
type LossOption = NonNullable<AlgorithmNames["loss"]>;

/** Options of `algorithm`, with functions in place of names. */
export interface AlgorithmOptions extends AlgorithmValues {
  /**
   * Advantage estimator: how the rewards of a group become advantages; a name, such as `"grpo"`
   * (arXiv:2402.03300), a map with `type` and its options, or a function from the rewards of all groups
   * to their advantages.
   * @default "grpo"
   *
   * @example
   * estimator: (groups) => groups.map((rewards) => Float64Array.from(rewards, (reward) => reward - 0.5))
   */
  readonly estimator?: EstimatorOption | AdvantageEstimator;
  /**
   * Advantage estimators for single roles, which override `estimator`: names, maps or functions by role.
   * @default {}
   */
  readonly estimatorByRole?: Readonly<Record<string, EstimatorOption | AdvantageEstimator>>;
  /**
   * Policy loss: a name, such as `"ppo"` (arXiv:1707.06347), a map with `type` and its options, or a
   * function from a token to its loss.
   * @default "ppo"
   *
   * @example
   * loss: { type: "ppo", epsClip: 0.2, epsClipHigh: 0.28 }
   */
  readonly loss?: LossOption | LossFunction;
  /**
   * Policy losses for single roles, which override `loss`: names, maps or functions by role.
   * @default {}
   */
  readonly lossByRole?: Readonly<Record<string, LossOption | LossFunction>>;
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
export interface TrainOptions extends Sections, DottedOptions {
  /** What is learned from a step's rollouts, and how. */
  readonly algorithm?: AlgorithmOptions;
}

/**
 * Options of a run with completion, hover texts and checks in the editor. Returns its argument.
 *
 * @example
 * export const config = defineConfig({
 *   model: { name: "builtin:shop-tiny", loraRank: 16 },
 *   rollout: { n: 8 },
 *   training: { learningRate: 1e-3 },
 *   trainer: { totalBatches: 30 },
 * });
 */
export function defineConfig(options: TrainOptions): TrainOptions {
  return options;
}
