/** Lines of metrics as one list of numbers per metric. */
import type { MetricLine } from "../runs/health/history.ts";
import type { MetricTable } from "./api/runs.ts";

/** One column per step; a step's validation and its training share it. */
export function metricTable(lines: readonly MetricLine[]): MetricTable {
  const steps = [...new Set(lines.map(({ step }) => step))].toSorted((a, b) => a - b);
  const at = new Map(steps.map((step, i) => [step, i]));
  // A metric may have any name, that of the prototype too.
  const series = Object.create(null) as Record<string, (number | null)[]>;
  for (const { step, values } of lines) {
    for (const [name, value] of Object.entries(values)) {
      const list = (series[name] ??= steps.map(() => null));
      list[at.get(step) ?? 0] = value;
    }
  }
  return { steps, series };
}
