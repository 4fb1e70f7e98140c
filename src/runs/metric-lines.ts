/** `metrics.jsonl` of a run folder as lines of numbers. */
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { MetricLine } from "./health/history.ts";

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
