/** The estimators by the names that a config uses. */
import { ConfigError } from "../core/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import {
  type AdvantageEstimator,
  gdpo,
  gpg,
  grpo,
  grpoPassAtK,
  maxrl,
  opo,
  prpo,
  reinforce,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  rloo,
} from "./estimators.ts";

export const estimatorNames = [
  "grpo",
  "reinforce",
  "rloo",
  "reinforce_plus_plus",
  "reinforce_plus_plus_baseline",
  "prpo",
  "opo",
  "gpg",
  "maxrl",
  "grpo_passk",
  "gdpo",
] as const;
export type EstimatorName = (typeof estimatorNames)[number];

const estimators: ReadonlyMap<string, AdvantageEstimator> = new Map<
  EstimatorName,
  AdvantageEstimator
>([
  ["grpo", grpo],
  ["reinforce", reinforce],
  ["rloo", rloo],
  ["reinforce_plus_plus", reinforcePlusPlus],
  ["reinforce_plus_plus_baseline", reinforcePlusPlusBaseline],
  ["prpo", prpo],
  ["opo", opo],
  ["gpg", gpg],
  ["maxrl", maxrl],
  ["grpo_passk", grpoPassAtK],
  ["gdpo", gdpo],
]);

/** Custom estimators, by the name that options use for them. */
export type CustomEstimators = ReadonlyMap<string, AdvantageEstimator>;

/** A name that contains `#` is custom: `path#export`, or one that was passed in code. */
export type CustomName = `${string}#${string}`;

export const isCustomName = (name: string): name is CustomName => name.includes("#");

/** Estimators that compare rollouts within a group: equal rewards (in gdpo, equal signals) teach them nothing. */
export const groupRelative: ReadonlySet<EstimatorName> = new Set([
  "grpo",
  "rloo",
  "reinforce_plus_plus_baseline",
  "opo",
  "gpg",
  "maxrl",
  "grpo_passk",
  "gdpo",
]);

/** @throws ConfigError when there is no estimator of that name. */
export function findEstimator(name: string, custom?: CustomEstimators): AdvantageEstimator {
  const estimator = estimators.get(name) ?? custom?.get(name);
  if (estimator !== undefined) return estimator;
  const nearest = nearestName(name, estimatorNames);
  throw new ConfigError({
    message: `There is no advantage estimator "${name}". Known: ${estimatorNames.join(", ")}.`,
    hint:
      nearest === undefined
        ? "Use a known name, or pass a function in code."
        : `Did you mean "${nearest}"?`,
    fields: { name, known: estimatorNames, nearest },
  });
}
