/**
 * Rows split into mini-batches, each of which gets an optimizer step. A function of the seed; knows
 * no backend.
 */
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { createRandom, deriveSeed, shuffled } from "../../util/random.ts";

export interface MiniBatchPlan {
  /** Mini-batches of each pass; never more than there are rows. */
  readonly parts: number;
  /** Passes over the rows. */
  readonly epochs: number;
  readonly seed: number;
}

/**
 * Every row once per pass, in mini-batches whose sizes differ by at most one. A single one keeps the
 * order of the rows; several are reshuffled in each pass.
 */
export function miniBatches(
  rows: readonly TrainingRow[],
  { parts, epochs, seed }: MiniBatchPlan,
): readonly (readonly TrainingRow[])[] {
  const count = Math.min(parts, rows.length);
  return Array.from({ length: epochs }, (_, epoch) => {
    if (count <= 1) return rows.length === 0 ? [] : [rows];
    const order = shuffled(rows, createRandom(deriveSeed(seed, "mini-batches", epoch)));
    return Array.from({ length: count }, (_part, part) =>
      order.slice(
        Math.floor((part * order.length) / count),
        Math.floor(((part + 1) * order.length) / count),
      ),
    );
  }).flat();
}
