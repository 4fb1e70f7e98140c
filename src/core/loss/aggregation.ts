/** Loss aggregation: the factor on each token's loss so that the plain sum over a batch is the wanted mean. */
import type { LossAggregation } from "./loss.ts";
import type { TrainingRow } from "./training-row.ts";

/** Trained tokens of a row: those with `targetMask` 1, position 0 apart. */
export function countTargets(row: TrainingRow): number {
  let count = 0;
  for (let i = 1; i < row.targetMask.length; i++) count += row.targetMask[i] ?? 0;
  return count;
}

/** Positions of the trained tokens of a row. */
export function targetPositions({ targetMask }: TrainingRow): Int32Array {
  const positions: number[] = [];
  for (let i = 1; i < targetMask.length; i++) if (targetMask[i] === 1) positions.push(i);
  return Int32Array.from(positions);
}

/** Tokens from the first to the last trained one of the row where they are most; 0 without any. */
function maxSpan(rows: readonly TrainingRow[]): number {
  return rows.reduce((longest, { targetMask }) => {
    const first = targetMask.indexOf(1, 1);
    return first < 0 ? longest : Math.max(longest, targetMask.lastIndexOf(1) - first + 1);
  }, 0);
}

/**
 * One factor per row; multiply each trained token's loss (and its `weights`) by it and sum.
 * With N trained tokens in all rows, S sequences that have any, n of them in this row's. A sequence is a row, or
 * all rows with the same `sequence`.
 *
 * - `token-sum`: 1
 * - `token-mean`: 1 / N (DAPO, arXiv:2503.14476)
 * - `seq-mean-token-sum`: 1 / S (Dr. GRPO up to a constant, arXiv:2503.20783)
 * - `seq-mean-token-mean`: 1 / (S n) (GRPO, arXiv:2402.03300)
 * - `seq-mean-token-sum-norm`: 1 / (S L) (Dr. GRPO), L = `length` or the longest trained stretch
 */
export function rowFactors(
  rows: readonly TrainingRow[],
  aggregation: LossAggregation,
  length?: number,
): Float64Array {
  const counts = new Map<string | number, number>();
  for (const [i, row] of rows.entries()) {
    const key = row.sequence ?? i;
    counts.set(key, (counts.get(key) ?? 0) + countTargets(row));
  }
  const all = [...counts.values()];
  const total = all.reduce((sum, n) => sum + n, 0);
  const sequences = all.filter((n) => n > 0).length;
  const norm = length ?? maxSpan(rows);
  return Float64Array.from(rows, ({ sequence }, i) => {
    const n = counts.get(sequence ?? i) ?? 0;
    if (n === 0) return 0;
    switch (aggregation) {
      case "token-sum":
        return 1;
      case "token-mean":
        return 1 / total;
      case "seq-mean-token-sum":
        return 1 / sequences;
      case "seq-mean-token-mean":
        return 1 / (sequences * n);
      case "seq-mean-token-sum-norm":
        return 1 / (sequences * norm);
    }
  });
}
