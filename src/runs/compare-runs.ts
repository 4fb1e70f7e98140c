/** What two runs were configured with and what came of them, read from their folders. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { identifying, readOptions } from "./read-options.ts";
import { readRun, type RunSummary } from "./run-summary.ts";

type Metrics = Readonly<Record<string, number>>;

/** Options that differ, as JSON; null where a run has no such option. */
export type OptionDifferences = Readonly<Record<string, readonly [string | null, string | null]>>;

/** Options that differ between two run folders; none where one of them has no configuration. */
export function optionDifferences(a: string, b: string): OptionDifferences {
  const [one, two] = [readOptions(a), readOptions(b)];
  if (one.size === 0 || two.size === 0) return {};
  const keys = [...new Set([...one.keys(), ...two.keys()])].sort();
  const differ = keys.filter((key) => !identifying.has(key) && one.get(key) !== two.get(key));
  return Object.fromEntries(
    differ.map((key) => [key, [one.get(key) ?? null, two.get(key) ?? null]]),
  );
}

/** Metrics of the last step and of the last validation; cut-off lines are skipped. */
export function lastMetrics(run: string): Metrics {
  const file = join(run, "metrics.jsonl");
  const last = new Map<string, Metrics>();
  for (const line of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
    try {
      const { phase, ...metrics } = JSON.parse(line) as Metrics & { readonly phase: string };
      last.set(phase, metrics);
    } catch {
      // Cut off by a kill, or being written right now.
    }
  }
  const { step: _step, ...all } = { ...last.get("train"), ...last.get("validation") } as Metrics;
  return all;
}

export interface RunComparison {
  readonly a: RunSummary;
  readonly b: RunSummary;
  readonly options: OptionDifferences;
  /** Metrics of the last step and of the last validation; null where a run has none. */
  readonly metrics: Readonly<Record<string, readonly [number | null, number | null]>>;
}

/** @param a folder of a run, or a name in the folder `runs` */
export async function compareRuns(a: string, b: string): Promise<RunComparison> {
  const runs = await Promise.all(
    [a, b].map((name) => readRun(existsSync(name) ? name : join("runs", name))),
  );
  const [first, second] = runs as [RunSummary, RunSummary];
  const [m1, m2] = runs.map(({ path }) => lastMetrics(path)) as [Metrics, Metrics];
  const metricNames = [...new Set([...Object.keys(m1), ...Object.keys(m2)])]
    .filter((name) => !name.startsWith("time/"))
    .sort();
  return {
    a: first,
    b: second,
    options: optionDifferences(first.path, second.path),
    metrics: Object.fromEntries(
      metricNames.map((name) => [name, [m1[name] ?? null, m2[name] ?? null]]),
    ),
  };
}
