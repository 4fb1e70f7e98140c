/** Advantage estimators and losses of the user, which options name as `path#export`. */
import { isCustomName } from "../../algorithms/catalog.ts";
import { namesByRole } from "../../config/role-map.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { AlgorithmFunctions } from "../../trainer/custom-algorithms.ts";
import { loadExport } from "./load-module.ts";

type Loaded = Required<Pick<AlgorithmFunctions, "estimators" | "losses">>;

/** Those of an option and of its map by role, by their names. */
async function load(
  folder: string,
  [option, name]: readonly [option: string, name: string],
  [mapOption, map]: readonly [option: string, map: readonly string[]],
): Promise<Record<string, unknown>> {
  const named: readonly (readonly [option: string, spec: string])[] = [
    [option, name],
    ...[...namesByRole(map)].map(([role, spec]) => [`${mapOption}.${role}`, spec] as const),
  ];
  const loaded: Record<string, unknown> = {};
  for (const [from, spec] of named) {
    if (!isCustomName(spec)) continue;
    loaded[spec] = await loadExport({ spec, folder, option: from, defaults: [] });
  }
  return loaded;
}

/** What the exports are is checked where they are used. */
export async function loadAlgorithms({ algorithm }: TrainConfig, folder: string): Promise<Loaded> {
  const estimators = await load(
    folder,
    ["algorithm.adv_estimator", algorithm.advEstimator],
    ["algorithm.estimator_map", algorithm.estimatorMap],
  );
  const losses = await load(
    folder,
    ["algorithm.loss_fn", algorithm.lossFn],
    ["algorithm.loss_fn_map", algorithm.lossFnMap],
  );
  return { estimators, losses } as Loaded;
}
