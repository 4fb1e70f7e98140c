/** The estimators by the names that a config uses. */
import { ConfigError } from "../core/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { AdvantageEstimator } from "./estimator.ts";
import { grpo } from "./grpo.ts";
import { reinforcePlusPlusBaseline } from "./reinforce-plus-plus-baseline.ts";
import { reinforce } from "./reinforce.ts";
import { rloo } from "./rloo.ts";

export const estimatorNames = [
  "grpo",
  "reinforce",
  "rloo",
  "reinforce_plus_plus_baseline",
] as const;
export type EstimatorName = (typeof estimatorNames)[number];

const estimators: ReadonlyMap<string, AdvantageEstimator> = new Map<
  EstimatorName,
  AdvantageEstimator
>([
  ["grpo", grpo],
  ["reinforce", reinforce],
  ["rloo", rloo],
  ["reinforce_plus_plus_baseline", reinforcePlusPlusBaseline],
]);

/** @throws ConfigError when there is no estimator of that name. */
export function findEstimator(name: string): AdvantageEstimator {
  const estimator = estimators.get(name);
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
