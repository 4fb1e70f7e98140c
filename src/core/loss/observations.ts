/** Tokens that the environment wrote and that the model learns to predict, next to those that it sampled. */
import type { TrainingRow } from "./training-row.ts";

/** Weight of the cross-entropy of each such token of a row; 0 for all others. */
export const observationWeight = (row: TrainingRow, position: number): number =>
  position === 0 ? 0 : (row.observationWeights?.[position] ?? 0);

/** Their number in all rows: what the mean of their cross-entropy is over. */
export function countObserved(rows: readonly TrainingRow[]): number {
  let count = 0;
  for (const row of rows) {
    const weights = row.observationWeights ?? [];
    for (let i = 1; i < weights.length; i++) if ((weights[i] ?? 0) > 0) count++;
  }
  return count;
}

/** Whether the loss has a term for this token. */
export const isPredicted = (row: TrainingRow, position: number): boolean =>
  row.targetMask[position] === 1 || observationWeight(row, position) > 0;
