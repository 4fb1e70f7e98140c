/** `metrics.jsonl` as one list of numbers per metric. */
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { MetricTable } from "./api.ts";

/** The numbers of one line, with its step and phase. */
export interface MetricLine {
  readonly step: number;
  readonly phase: string;
  readonly values: Readonly<Record<string, number>>;
}

/** Lines in order; one that is cut off or damaged is left out. */
export async function readMetricLines(folder: string): Promise<readonly MetricLine[]> {
  const path = join(folder, "metrics.jsonl");
  if (!existsSync(path)) return [];
  const lines: MetricLine[] = [];
  for await (const text of createInterface({ input: createReadStream(path) })) {
    try {
      const { step, phase, ...rest } = JSON.parse(text) as Record<string, unknown>;
      const values = Object.entries(rest).filter(
        (entry): entry is [string, number] => typeof entry[1] === "number",
      );
      lines.push({
        step: typeof step === "number" ? step : 0,
        phase: typeof phase === "string" ? phase : "train",
        values: Object.fromEntries(values),
      });
    } catch {
      // Being written right now, or cut off by a kill.
    }
  }
  return lines;
}

/** One column per step; a step's validation and its training share it. */
export function metricTable(lines: readonly MetricLine[]): MetricTable {
  const steps = [...new Set(lines.map(({ step }) => step))].toSorted((a, b) => a - b);
  const at = new Map(steps.map((step, i) => [step, i]));
  const series: Record<string, (number | null)[]> = {};
  for (const { step, values } of lines) {
    for (const [name, value] of Object.entries(values)) {
      const list = (series[name] ??= steps.map(() => null));
      list[at.get(step) ?? 0] = value;
    }
  }
  return { steps, series };
}
