/** What the step's metrics say about its training rows. */
import type { TrainingRow } from "../core/training-row.ts";
import { summarize } from "./statistics.ts";

interface RowsOfMember {
  readonly rows: readonly TrainingRow[];
  readonly steps: number;
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i] ?? 0;
  return total;
}

/**
 * `rows/count`, `rows/steps`, `rows/tokens`, `rows/trained_tokens`; `rows/merge_ratio` = steps per row;
 * `rows/per_trajectory/...`; `rows/response_length/...` = tokens from a row's first sampled one to its
 * end; `rows/action_ratio/...` = share of sampled tokens among those; `rows/breaks/{reason}`;
 * `rows/dropped/{reason}` in steps.
 */
export function rowMetrics(
  members: readonly RowsOfMember[],
  breaks: Readonly<Record<string, number>>,
  dropped: Readonly<Record<string, number>>,
): Record<string, number> {
  const rows = members.flatMap((member) => member.rows);
  const steps = sum(members.map((member) => member.steps));
  const targets = rows.map((row) => sum(row.targetMask));
  const lengths = rows.map((row) => row.tokens.length - row.targetMask.indexOf(1));
  const metrics: Record<string, number> = {
    "rows/count": rows.length,
    "rows/steps": steps,
    "rows/tokens": sum(rows.map((row) => row.tokens.length)),
    "rows/trained_tokens": sum(targets),
    "rows/merge_ratio": rows.length === 0 ? 0 : steps / rows.length,
    ...summarize(
      "rows/per_trajectory",
      members.map((member) => member.rows.length),
    ),
    ...summarize("rows/response_length", lengths),
    ...summarize(
      "rows/action_ratio",
      targets.map((count, i) => count / (lengths[i] ?? 1)),
    ),
  };
  for (const [reason, count] of Object.entries(breaks)) metrics[`rows/breaks/${reason}`] = count;
  for (const [reason, count] of Object.entries(dropped)) metrics[`rows/dropped/${reason}`] = count;
  return metrics;
}
