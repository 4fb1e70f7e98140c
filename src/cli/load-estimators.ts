/** Advantage estimators of the user, which options name as `path#export`. */
import { type CustomName, isCustomName } from "../algorithms/catalog.ts";
import type { AdvantageEstimator } from "../algorithms/estimator.ts";
import { estimatorsByRole } from "../trainer/config/estimator-map.ts";
import type { TrainConfig } from "../trainer/config/train-config.ts";
import { loadExport } from "./load-module.ts";

/** Those of `algorithm.adv_estimator` and `algorithm.estimator_map`, by their names. */
export async function loadEstimators(
  { algorithm }: TrainConfig,
  folder: string,
): Promise<Record<CustomName, AdvantageEstimator>> {
  const roles = [...estimatorsByRole(algorithm.estimatorMap)];
  const named: readonly (readonly [option: string, name: string])[] = [
    ["algorithm.adv_estimator", algorithm.advEstimator],
    ...roles.map(([role, name]) => [`algorithm.estimator_map.${role}`, name] as const),
  ];
  const loaded: Record<CustomName, AdvantageEstimator> = {};
  for (const [option, spec] of named) {
    if (!isCustomName(spec)) continue;
    loaded[spec] = (await loadExport({ spec, folder, option, defaults: [] })) as AdvantageEstimator;
  }
  return loaded;
}
