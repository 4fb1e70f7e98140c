/** From rollouts to changed weights: rows, then updates. Knows nothing of how rollouts came about. */
import type { TrainingRow } from "../core/training-row.ts";
import { applyUpdates, type Updates } from "./apply-updates.ts";
import type { LoopContext } from "./loop-context.ts";
import type { RolloutSet } from "./rollout-set.ts";
import type { UpdateGuard } from "./stepper.ts";
import { trainingRows } from "./training-rows.ts";

const nothingCaptured =
  "No rollout of this step left anything to train on. Does the agent send its calls to config.baseUrl, with config.apiKey?";

export interface TrainOptions {
  readonly guard: UpdateGuard;
  /** Updates that were skipped in a row before. */
  readonly skippedUpdates: number;
  /** Looks at the rows before they are trained on; may throw. */
  readonly check?: (rows: readonly TrainingRow[]) => void;
}

/** Trains on `sets` in step `step`. Served weights stay as they are. */
export async function trainOnSets(
  context: LoopContext,
  step: number,
  sets: readonly RolloutSet[],
  { guard, skippedUpdates, check }: TrainOptions,
): Promise<Updates> {
  const { rows, metrics } = await trainingRows(context, step, sets);
  if (sets.length > 0 && metrics["groups/trajectories_after"] === 0) {
    context.emit(step, { type: "warning", message: nothingCaptured });
  }
  check?.(rows);
  const updates = await applyUpdates(context, step, rows, guard, skippedUpdates);
  return {
    ...updates,
    metrics: {
      ...metrics,
      ...updates.metrics,
      "train/skipped_steps": updates.hasChanged ? 0 : 1,
    },
  };
}
