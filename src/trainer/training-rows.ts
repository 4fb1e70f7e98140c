/**
 * From the episodes of a step to the rows of its update, with everything between that needs the
 * weights that train. Knows nothing of how episodes came about, or of the update.
 */
import type { TrainingRow } from "../core/training-row.ts";
import { correctRows } from "./correct-rows.ts";
import { groupsOf, rowsOf } from "./episode-rows.ts";
import type { LoopContext } from "./loop-context.ts";
import type { RolloutSet } from "./rollout-set.ts";
import { type Score, shapeByKl } from "./shape-rewards.ts";

export interface TrainingRows {
  readonly rows: readonly TrainingRow[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** Asks the backend for log-probabilities where an option needs them; weights do not change. */
export async function trainingRows(
  {
    config,
    backend,
    signal,
    estimators,
  }: Pick<LoopContext, "config" | "backend" | "signal" | "estimators">,
  sets: readonly RolloutSet[],
): Promise<TrainingRows> {
  // Options that need it were refused at start where there is none.
  const score: Score = async (rows, which) =>
    (await backend.forward?.(rows, which, signal)) ??
    rows.map(({ samplingLogprobs }) => samplingLogprobs);
  const grouped = await shapeByKl(config, groupsOf(config, sets), score);
  const built = rowsOf(config, grouped, estimators);
  const corrected = await correctRows(
    built.rows,
    (rows) => score(rows, "current"),
    config.algorithm.rolloutCorrection,
  );
  return { rows: corrected.rows, metrics: { ...built.metrics, ...corrected.metrics } };
}
