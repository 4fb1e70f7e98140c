/** Loads custom advantage estimators and losses, which options name as `path#export`. */
import { isCustomName } from "../algorithms/catalog.ts";
import type { EstimatorOfRole, LossOfRole, TrainConfig } from "../config/train-config.ts";
import type { AlgorithmFunctions } from "../trainer/custom-algorithms.ts";
import { loadExport } from "./load-module.ts";

type Loaded = Required<Pick<AlgorithmFunctions, "estimators" | "losses">>;

/** Functions named by an option and by its per-role map, keyed by name. */
async function load(
  folder: string,
  isKnown: (name: string) => boolean,
  [option, { type: name }]: readonly [option: string, one: { readonly type: string }],
  [mapOption, map]: readonly [option: string, map: readonly (EstimatorOfRole | LossOfRole)[]],
): Promise<Record<string, unknown>> {
  const named: readonly (readonly [option: string, spec: string])[] = [
    [option, name],
    ...map.map(({ role, type }) => [`${mapOption}.${role}`, type] as const),
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
    ["algorithm.estimator", algorithm.estimator],
    ["algorithm.estimator_by_role", algorithm.estimatorByRole],
  );
  const losses = await load(
    folder,
    isKnown,
    ["algorithm.loss", algorithm.loss],
    ["algorithm.loss_by_role", algorithm.lossByRole],
  );
  return { estimators, losses } as Loaded;
}
