/** Loads custom advantage estimators and losses, which options name as `path#export`. */
import { isCustomName } from "../algorithms/catalog.ts";
import { namesByRole } from "../config/role-map.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { AlgorithmFunctions } from "../trainer/custom-algorithms.ts";
import { loadExport } from "./load-module.ts";

type Loaded = Required<Pick<AlgorithmFunctions, "estimators" | "losses">>;

/** Functions named by an option and by its per-role map, keyed by name. */
async function load(
  folder: string,
  isKnown: (name: string) => boolean,
  [option, name]: readonly [option: string, name: string],
  [mapOption, map]: readonly [option: string, map: readonly string[]],
): Promise<Record<string, unknown>> {
  const named: readonly (readonly [option: string, spec: string])[] = [
    [option, name],
    ...[...namesByRole(map)].map(([role, spec]) => [`${mapOption}.${role}`, spec] as const),
  ];
  const loaded: Record<string, unknown> = {};
  for (const [from, spec] of named) {
    if (!isCustomName(spec) || isKnown(spec)) continue;
    loaded[spec] = await loadExport({ spec, folder, option: from, defaults: [] });
  }
  return loaded;
}

/**
 * The types of the exports are checked where they are used.
 * @param isKnown whether there is a function of this name already.
 */
export async function loadAlgorithms(
  { algorithm }: TrainConfig,
  folder: string,
  isKnown: (name: string) => boolean = () => false,
): Promise<Loaded> {
  const estimators = await load(
    folder,
    isKnown,
    ["algorithm.adv_estimator", algorithm.advEstimator],
    ["algorithm.estimator_map", algorithm.estimatorMap],
  );
  const losses = await load(
    folder,
    isKnown,
    ["algorithm.loss_fn", algorithm.lossFn],
    ["algorithm.loss_fn_map", algorithm.lossFnMap],
  );
  return { estimators, losses } as Loaded;
}
