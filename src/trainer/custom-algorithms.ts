/**
 * Custom functions in place of names: each gets a name in the options, so that a run folder records
 * what was used, and a registry finds it again.
 */
import { type CustomEstimators, type CustomName, isCustomName } from "../algorithms/catalog.ts";
import type { AdvantageEstimator } from "../algorithms/estimators.ts";
import type { LossFunction } from "../algorithms/losses/loss-function.ts";
import { ConfigError } from "../core/errors.ts";
import { isTree, type Tree } from "../config/camel-keys.ts";
import type { ConfigInput } from "../config/load.ts";
import type { TrainConfig } from "../config/train-config.ts";

/** Functions that the options name as `path#export`, by these names. */
export interface AlgorithmFunctions {
  readonly estimators?: Readonly<Record<CustomName, AdvantageEstimator>>;
  readonly losses?: Readonly<Record<CustomName, LossFunction>>;
}

/** Custom losses, by their names in the options. */
export type CustomLosses = ReadonlyMap<string, LossFunction>;

/** Custom functions, by their names in the options. */
export interface NamedFunctions {
  readonly estimators: CustomEstimators;
  readonly losses: CustomLosses;
}

/** What a custom function may replace. */
interface Kind {
  readonly what: "estimator" | "loss";
  /** Options of `algorithm`. */
  readonly option: "estimator" | "loss";
  readonly map: "estimatorByRole" | "lossByRole";
  readonly registry: keyof NamedFunctions;
  readonly shape: string;
  readonly hint: string;
  readonly isOne: (given: unknown) => boolean;
}

const estimators: Kind = {
  what: "estimator",
  option: "estimator",
  map: "estimatorByRole",
  registry: "estimators",
  shape: "a function from rewards to advantages",
  hint: "(groups, options) => groups.map((rewards) => Float64Array.from(rewards, ...))",
  isOne: (given) => typeof given === "function",
};

const losses: Kind = {
  what: "loss",
  option: "loss",
  map: "lossByRole",
  registry: "losses",
  shape: "a function from a token to its loss, or an object with `row`",
  hint: "({ logprob, samplingLogprob, advantage }) => -Math.exp(logprob - samplingLogprob) * advantage",
  isOne: (given) =>
    typeof given === "function" || (isTree(given) && typeof given["row"] === "function"),
};

function requireFunction({ shape, hint, isOne }: Kind, option: string, given: unknown): void {
  if (isOne(given)) return;
  throw new ConfigError({
    message: `${option} must be ${shape}; got ${typeof given}.`,
    hint,
    fields: { option },
  });
}

/** Adds the function to the registry. A name is kept. */
function nameOf(kind: Kind, path: string, given: unknown, registry: Map<string, unknown>): unknown {
  if (given === undefined || typeof given === "string") return given;
  // One that has a name, with options.
  if (isTree(given) && given["row"] === undefined) return given;
  requireFunction(kind, `algorithm.${path}`, given);
  const own = path === kind.option && typeof given === "function" ? given.name : "";
  // Names of options contain one #, and = separates roles from names.
  const name = `code#${(own || path).replaceAll(/[#=]/gu, "_")}`;
  registry.set(name, given);
  return name;
}

/** The options of `algorithm` with names in place of functions. */
function named(algorithm: Tree, kind: Kind, registry: Map<string, unknown>): Tree {
  const { [kind.option]: one, [kind.map]: byRole } = algorithm;
  const out: Tree = { ...algorithm };
  if (one !== undefined) out[kind.option] = nameOf(kind, kind.option, one, registry);
  if (isTree(byRole)) {
    out[kind.map] = Object.fromEntries(
      Object.entries(byRole).map(([role, given]) => [
        role,
        nameOf(kind, `${kind.map}.${role}`, given, registry),
      ]),
    );
  }
  return out;
}

/** Names of estimators and losses that take no function: other spellings, and those of single options. */
const otherPlaces =
  /^(?:algorithm\.)?(?:adv_?estimator|estimator|loss(?:_?fn)?)(?:_?(?:map|by_?role))?$/iu;

/** @throws ConfigError for a function under a name that takes none. */
function refuseOtherPlaces(input: ConfigInput, algorithm: unknown): void {
  const dotted = isTree(input) ? Object.entries(input) : [];
  const inside = isTree(algorithm) ? Object.entries(algorithm) : [];
  const own = new Set<string>([estimators, losses].flatMap(({ option, map }) => [option, map]));
  const found =
    dotted.find(([key, value]) => typeof value === "function" && otherPlaces.test(key)) ??
    inside.find(
      ([key, value]) => typeof value === "function" && !own.has(key) && otherPlaces.test(key),
    );
  if (found === undefined) return;
  const { option } = /loss/iu.test(found[0]) ? losses : estimators;
  throw new ConfigError({
    message: `${found[0]} takes no function.`,
    hint: `Pass it as config: { algorithm: { ${option}: (...) => ... } }.`,
    fields: { option: found[0] },
  });
}

/**
 * The options with names in place of the functions in `algorithm`, and these functions by name.
 * @throws ConfigError for values that are neither names nor functions.
 */
export function takeFunctions(input: ConfigInput): {
  readonly config: ConfigInput;
  readonly functions: NamedFunctions;
} {
  const functions = { estimators: new Map(), losses: new Map() };
  const given = isTree(input) ? input["algorithm"] : undefined;
  refuseOtherPlaces(input, given);
  if (!isTree(given)) return { config: input, functions };
  const algorithm = named(named(given, estimators, functions.estimators), losses, functions.losses);
  const isSame = functions.estimators.size + functions.losses.size === 0;
  return { config: isSame ? input : { ...input, algorithm }, functions };
}

/**
 * These functions and those that were loaded by the names in the options.
 * @throws ConfigError for values that are not functions.
 */
export function withLoaded(functions: NamedFunctions, loaded: AlgorithmFunctions): NamedFunctions {
  const join = <F>(kind: Kind, own: ReadonlyMap<string, F>, more: Readonly<Record<string, F>>) => {
    for (const [name, given] of Object.entries(more)) requireFunction(kind, name, given);
    return new Map([...Object.entries(more), ...own]);
  };
  return {
    estimators: join(estimators, functions.estimators, loaded.estimators ?? {}),
    losses: join(losses, functions.losses, loaded.losses ?? {}),
  };
}

/**
 * @param isKnown whether a custom name needs no function, as a loss that the backend itself has.
 * @throws ConfigError when an option names a function that is not there.
 */
export function requireFunctions(
  { algorithm }: TrainConfig,
  functions: NamedFunctions,
  isKnown: (name: string) => boolean = () => false,
): void {
  for (const { what, option, map, registry } of [estimators, losses]) {
    const given = functions[registry];
    const names = [algorithm[option], ...algorithm[map]].map(({ type }) => type);
    const missing = names.find((name) => isCustomName(name) && !given.has(name) && !isKnown(name));
    if (missing === undefined) continue;
    throw new ConfigError({
      message: `The options name the ${what} ${missing}, but no function came with it.`,
      hint: `Pass the function itself as config.algorithm.${option}, or name it as path#export.`,
      fields: { missing, given: [...given.keys()] },
    });
  }
}
