/**
 * From the episodes of a step to the rows of its update, with everything between that needs the
 * weights that train. Knows nothing of how episodes came about, or of the update.
 */
import type { TrainingRow } from "../core/training-row.ts";
import type { Episode } from "../core/trajectory.ts";
import { correctRows } from "./correct-rows.ts";
import { rowsOf } from "./episode-rows.ts";
import type { LoopContext } from "./loop-context.ts";

export interface TrainingRows {
  readonly rows: readonly TrainingRow[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** Asks the backend for log-probabilities where an option needs them; weights do not change. */
export async function trainingRows(
  { config, backend, signal }: Pick<LoopContext, "config" | "backend" | "signal">,
  episodes: readonly Episode[],
): Promise<TrainingRows> {
  const built = rowsOf(config, episodes);
  const corrected = await correctRows(
    built.rows,
    async (rows) => (await backend.forward?.(rows, "current", signal)) ?? [],
    config.algorithm.rolloutCorrection,
  );
  return { rows: corrected.rows, metrics: { ...built.metrics, ...corrected.metrics } };
}
