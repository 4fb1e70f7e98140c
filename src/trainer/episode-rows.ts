/**
 * From the episodes of a step to the rows it trains on: groups, filters, advantages, rows. Knows
 * nothing of how episodes came about, or of backends.
 */
import { computeAdvantages } from "../algorithms/advantages.ts";
import { groupRelative } from "../algorithms/catalog.ts";
import type { EstimatorName } from "../algorithms/catalog.ts";
import { dropUniform } from "../algorithms/filters.ts";
import { groupTrajectories } from "../algorithms/grouping.ts";
import { buildRows } from "../algorithms/rows.ts";
import type { TrainingRow } from "../core/training-row.ts";
import type { Episode } from "../core/trajectory.ts";
import type { TrainConfig } from "./config/train-config.ts";

/** Whether groups without a signal are left out; see the option's description. */
function filtersUniform({ algorithm }: TrainConfig): boolean {
  const { filterUniformGroups, advEstimator } = algorithm;
  const used = [advEstimator, ...estimatorsByRole(algorithm).values()];
  return filterUniformGroups ?? used.every((name) => groupRelative.has(name));
}

/** `role=estimator`, whose role may hold an equals sign of its own. */
function estimatorsByRole({ estimatorMap }: TrainConfig["algorithm"]): Map<string, EstimatorName> {
  return new Map(
    estimatorMap.map((entry) => {
      const at = entry.lastIndexOf("=");
      return [entry.slice(0, at), entry.slice(at + 1) as EstimatorName] as const;
    }),
  );
}

/** Rows to train on, with advantages, and the metrics of what was made of the episodes. */
export function rowsOf(
  config: TrainConfig,
  episodes: readonly Episode[],
): { rows: readonly TrainingRow[]; metrics: Record<string, number> } {
  const grouped = groupTrajectories(episodes);
  const filtered = filtersUniform(config) ? dropUniform(grouped.groups) : null;
  const groups = filtered?.groups ?? grouped.groups;
  const advantages = computeAdvantages(groups, {
    estimator: config.algorithm.advEstimator,
    byRole: estimatorsByRole(config.algorithm),
    normByStd: config.algorithm.normAdvByStdInGrpo,
  });
  const built = buildRows(groups, advantages.advantages);
  return {
    rows: built.rows,
    metrics: {
      ...grouped.metrics,
      ...filtered?.metrics,
      ...advantages.metrics,
      ...built.metrics,
    },
  };
}
