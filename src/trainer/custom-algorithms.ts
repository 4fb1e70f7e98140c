/**
 * Custom functions in place of names: each gets a name in the options, so that a run folder records
 * what was used, and a registry finds it again.
 */
import { type CustomEstimators, type CustomName, isCustomName } from "../algorithms/catalog.ts";
import type { AdvantageEstimator } from "../algorithms/estimator.ts";
import type { LossFunction } from "../algorithms/losses/loss-function.ts";
import { ConfigError } from "../core/errors.ts";
import type { ConfigInput } from "../config/load.ts";
import { namesByRole } from "../config/role-map.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { TrainOptions } from "../config/train-options.ts";
import { defined } from "../util/defined.ts";

/** Custom functions in place of the names of estimators and losses. */
export interface AlgorithmFunctions {
  /** Replaces `algorithm.adv_estimator`. */
  readonly advEstimator?: AdvantageEstimator;
  /** Estimators of single roles; they take precedence over `algorithm.estimator_map`. */
  readonly estimatorMap?: Readonly<Record<string, AdvantageEstimator>>;
  /** Estimators that the options name as `path#export`, by these names. */
  readonly estimators?: Readonly<Record<CustomName, AdvantageEstimator>>;
  /** Replaces `algorithm.loss_fn`. */
  readonly lossFn?: LossFunction;
  /** Losses of single roles; they take precedence over `algorithm.loss_fn_map`. */
  readonly lossFnMap?: Readonly<Record<string, LossFunction>>;
  /** Losses that the options name as `path#export`, by these names. */
  readonly losses?: Readonly<Record<CustomName, LossFunction>>;
}

type Algorithm = NonNullable<TrainOptions["algorithm"]>;

const isNamed = (value: unknown): boolean => typeof value === "string";

/** Entries of a map that are not names. */
function functionsOf<F>(map: unknown): Readonly<Record<string, F>> | undefined {
  if (typeof map !== "object" || map === null || Array.isArray(map)) return undefined;
  const entries = Object.entries(map).filter(([, value]) => !isNamed(value));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function namesOf(map: unknown): unknown {
  if (typeof map !== "object" || map === null || Array.isArray(map)) return map;
  return Object.fromEntries(Object.entries(map).filter(([, value]) => isNamed(value)));
}

/** Options without the functions in `algorithm`, and those functions. */
export function takeFunctions(input: ConfigInput): {
  readonly config: ConfigInput;
  readonly functions: AlgorithmFunctions;
} {
  const algorithm = Array.isArray(input) ? undefined : (input as TrainOptions).algorithm;
  if (typeof algorithm !== "object" || algorithm === null) return { config: input, functions: {} };
  const { advEstimator, lossFn, estimatorMap, lossFnMap, ...rest }: Algorithm = algorithm;
  const one = (value: unknown): boolean => value !== undefined && !isNamed(value);
  const functions = defined({
    advEstimator: one(advEstimator) ? (advEstimator as AdvantageEstimator) : undefined,
    lossFn: one(lossFn) ? (lossFn as LossFunction) : undefined,
    estimatorMap: functionsOf<AdvantageEstimator>(estimatorMap),
    lossFnMap: functionsOf<LossFunction>(lossFnMap),
  });
  if (Object.keys(functions).length === 0) return { config: input, functions };
  const names = defined({
    advEstimator: isNamed(advEstimator) ? advEstimator : undefined,
    lossFn: isNamed(lossFn) ? lossFn : undefined,
    estimatorMap: namesOf(estimatorMap),
    lossFnMap: namesOf(lossFnMap),
  });
  return {
    config: { ...(input as TrainOptions), algorithm: { ...rest, ...names } as Algorithm },
    functions,
  };
}

/** Custom losses, by their names in the options. */
export type CustomLosses = ReadonlyMap<string, LossFunction>;

export interface NamedAlgorithms {
  readonly config: TrainConfig;
  readonly estimators: CustomEstimators;
  readonly losses: CustomLosses;
}

/** What a custom function may replace. */
interface Kind<F> {
  readonly what: "estimator" | "loss";
  /** Fields of `AlgorithmFunctions`, for messages. */
  readonly fields: { readonly one: string; readonly map: string; readonly named: string };
  readonly shape: string;
  readonly hint: string;
  readonly isOne: (given: unknown) => given is F;
}

const estimatorKind: Kind<AdvantageEstimator> = {
  what: "estimator",
  fields: { one: "advEstimator", map: "estimatorMap", named: "estimators" },
  shape: "a function from rewards to advantages",
  hint: "(groups, options) => groups.map((rewards) => Float64Array.from(rewards, ...))",
  isOne: (given): given is AdvantageEstimator => typeof given === "function",
};

const lossKind: Kind<LossFunction> = {
  what: "loss",
  fields: { one: "lossFn", map: "lossFnMap", named: "losses" },
  shape: "a function from a token to its loss, or an object with `row`",
  hint: "({ logprob, samplingLogprob, advantage }) => -Math.exp(logprob - samplingLogprob) * advantage",
  isOne: (given): given is LossFunction =>
    typeof given === "function" ||
    (typeof given === "object" &&
      given !== null &&
      "row" in given &&
      typeof given.row === "function"),
};

interface Given<F> {
  readonly one: F | undefined;
  readonly byRole: Readonly<Record<string, F>>;
  readonly named: Readonly<Record<string, F>>;
}

interface Options {
  readonly name: string;
  /** `role=name` each. */
  readonly map: readonly string[];
  /** Names that need no function. @default none */
  readonly known?: readonly string[];
}

/** The options with names in place of functions, and the functions by these names. */
function nameThem<F>(
  { fields, what, shape, hint, isOne }: Kind<F>,
  { one, byRole, named }: Given<F>,
  options: Options,
): Pick<Options, "name" | "map"> & { readonly functions: ReadonlyMap<string, F> } {
  const checked = (field: string, given: unknown): F => {
    if (isOne(given)) return given;
    const option = `algorithm.${field}`;
    throw new ConfigError({
      message: `${option} must be ${shape}; got ${typeof given}.`,
      hint,
      fields: { option },
    });
  };
  const functions = new Map<string, F>(
    Object.entries(named).map(([name, given]) => [
      name,
      checked(`${fields.named}["${name}"]`, given),
    ]),
  );
  let { name: global } = options;
  if (one !== undefined) {
    const given = checked(fields.one, one);
    global = `code#${(typeof given === "function" && given.name) || fields.one}`;
    functions.set(global, given);
  }
  const roles = new Map<string, string>(namesByRole(options.map));
  for (const [role, given] of Object.entries(byRole)) {
    const name = `code#${fields.map}.${role}`;
    functions.set(name, checked(`${fields.map}["${role}"]`, given));
    roles.set(role, name);
  }
  const missing = [global, ...roles.values()].find(
    (name) => isCustomName(name) && !functions.has(name) && !options.known?.includes(name),
  );
  if (missing !== undefined)
    throw new ConfigError({
      message: `The options name the ${what} ${missing}, but no function came with it.`,
      hint: `Pass the function itself as config.algorithm.${fields.one}; the command line loads path#export.`,
      fields: { missing, given: [...functions.keys()] },
    });
  return { name: global, map: [...roles].map(([role, name]) => `${role}=${name}`), functions };
}

/**
 * @param ownLosses names of losses that the backend itself has, without a function.
 * @throws ConfigError when a name has no function, or a value is not a function.
 */
export function nameAlgorithms(
  config: TrainConfig,
  given: AlgorithmFunctions = {},
  ownLosses: readonly string[] = [],
): NamedAlgorithms {
  const { algorithm } = config;
  const estimators = nameThem(
    estimatorKind,
    {
      one: given.advEstimator,
      byRole: given.estimatorMap ?? {},
      named: given.estimators ?? {},
    },
    { name: algorithm.advEstimator, map: algorithm.estimatorMap },
  );
  const losses = nameThem(
    lossKind,
    { one: given.lossFn, byRole: given.lossFnMap ?? {}, named: given.losses ?? {} },
    { name: algorithm.lossFn, map: algorithm.lossFnMap, known: ownLosses },
  );
  return {
    config: {
      ...config,
      algorithm: {
        ...algorithm,
        advEstimator: estimators.name as typeof algorithm.advEstimator,
        estimatorMap: estimators.map,
        lossFn: losses.name as typeof algorithm.lossFn,
        lossFnMap: losses.map,
      },
    },
    estimators: estimators.functions,
    losses: losses.functions,
  };
}
