/**
 * Functions of the user in place of names: they get a name in the options, so that a run folder says
 * what was used, and a registry that finds them again.
 */
import { type CustomEstimators, type CustomName, isCustomName } from "../algorithms/catalog.ts";
import type { AdvantageEstimator } from "../algorithms/estimator.ts";
import { ConfigError, UnsupportedOptionError } from "../core/errors.ts";
import { estimatorsByRole } from "./config/estimator-map.ts";
import type { TrainConfig } from "./config/train-config.ts";

/** Formulas in code. */
export interface AlgorithmFunctions {
  /** In place of `algorithm.adv_estimator`. */
  readonly advEstimator?: AdvantageEstimator;
  /** Of single roles, over `algorithm.estimator_map`. */
  readonly estimatorMap?: Readonly<Record<string, AdvantageEstimator>>;
  /** Those that the options name as `path#export`, by these names. */
  readonly estimators?: Readonly<Record<CustomName, AdvantageEstimator>>;
  /** No backend of this package takes a loss as a function; `algorithm.loss_fn` has names. */
  readonly lossFn?: never;
}

export interface NamedAlgorithms {
  readonly config: TrainConfig;
  readonly estimators: CustomEstimators;
}

function checked(option: string, given: unknown): AdvantageEstimator {
  if (typeof given === "function") return given as AdvantageEstimator;
  throw new ConfigError({
    message: `${option} must be a function from rewards to advantages; got ${typeof given}.`,
    hint: "(groups, options) => groups.map((rewards) => Float64Array.from(rewards, ...))",
    fields: { option },
  });
}

/** Names that the options have and nobody gave a function for. */
function checkNames({ algorithm }: TrainConfig, estimators: CustomEstimators): void {
  const used = [algorithm.advEstimator, ...estimatorsByRole(algorithm.estimatorMap).values()];
  const missing = used.find((name) => isCustomName(name) && !estimators.has(name));
  if (missing === undefined) return;
  throw new ConfigError({
    message: `The options name the estimator ${missing}, but no function came with it.`,
    hint: `Pass algorithm: { estimators: { "${missing}": fn } }; the command line loads path#export itself.`,
    fields: { missing, given: [...estimators.keys()] },
  });
}

/**
 * @throws ConfigError when a name has no function, or a function is none.
 * @throws UnsupportedOptionError for a loss as a function.
 */
export function nameAlgorithms(
  config: TrainConfig,
  functions: AlgorithmFunctions = {},
  backend = "",
): NamedAlgorithms {
  const { advEstimator, estimatorMap = {}, estimators: named = {}, lossFn } = functions;
  if (lossFn !== undefined)
    throw new UnsupportedOptionError("algorithm.lossFn", "a function", backend, []);
  const estimators = new Map<string, AdvantageEstimator>(
    Object.entries(named).map(([name, given]) => [
      name,
      checked(`algorithm.estimators["${name}"]`, given),
    ]),
  );
  let { advEstimator: global } = config.algorithm;
  if (advEstimator !== undefined) {
    global = `code#${checked("algorithm.advEstimator", advEstimator).name || "advEstimator"}`;
    estimators.set(global, advEstimator);
  }
  const roles = new Map<string, string>(estimatorsByRole(config.algorithm.estimatorMap));
  for (const [role, given] of Object.entries(estimatorMap)) {
    const name = `code#estimatorMap.${role}`;
    estimators.set(name, checked(`algorithm.estimatorMap["${role}"]`, given));
    roles.set(role, name);
  }
  const pairs = [...roles].map(([role, name]) => `${role}=${name}`);
  const changed: TrainConfig = {
    ...config,
    algorithm: { ...config.algorithm, advEstimator: global, estimatorMap: pairs },
  };
  checkNames(changed, estimators);
  return { config: changed, estimators };
}
