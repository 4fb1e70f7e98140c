/** Rows dealt into the parts that get an optimizer step each. A function of the seed; knows no backend. */
import type { TrainingRow } from "../../core/training-row.ts";
import { createRandom, deriveSeed, shuffled } from "../../util/random.ts";

export interface MiniBatchPlan {
  /** Parts of each pass; never more than there are rows. */
  readonly parts: number;
  /** Passes over the rows. */
  readonly epochs: number;
  readonly seed: number;
}

/**
 * Every row once per pass, in parts whose sizes differ by one at most. A single part keeps the order
 * of the rows; several are shuffled anew in each pass.
 */
export function miniBatches(
  rows: readonly TrainingRow[],
  { parts, epochs, seed }: MiniBatchPlan,
): readonly (readonly TrainingRow[])[] {
  const count = Math.min(parts, rows.length);
  return Array.from({ length: epochs }, (_, epoch) => {
    if (count <= 1) return rows.length === 0 ? [] : [rows];
    const dealt = shuffled(rows, createRandom(deriveSeed(seed, "mini-batches", epoch)));
    return Array.from({ length: count }, (_part, part) =>
      dealt.slice(
        Math.floor((part * dealt.length) / count),
        Math.floor(((part + 1) * dealt.length) / count),
      ),
    );
  }).flat();
}
