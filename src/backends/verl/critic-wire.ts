/** What a critic learns from, for the bridge; `critic.py` in `python/agent_trainer_bridge/` is the other side. */
import { rowFactors } from "../../core/loss/aggregation.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { CriticSpec } from "../../core/loss/value-loss.ts";

/** Of the value loss: those of an update with the rows that have returns, null for the others. */
export function criticFactors(
  rows: readonly TrainingRow[],
  { aggregation, aggregationLength }: LossSpec,
): readonly (number | null)[] {
  const taught = rows.filter(({ returns }) => returns !== undefined);
  const factors = rowFactors(taught, aggregation, aggregationLength);
  const found = new Map(taught.map((row, i) => [row, factors[i]!]));
  return rows.map((row) => found.get(row) ?? null);
}

/** For the bridge: `CriticUpdate` of `critic.py`. */
export const encodeCritic = (critic: CriticSpec): Readonly<Record<string, unknown>> => ({
  learning_rate: critic.learningRate,
  clip: critic.clip,
  epochs: critic.epochs,
  is_warmup: critic.isWarmup,
});
