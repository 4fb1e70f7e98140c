/** `agent-trainer runs compare`: what two runs were configured with, and what came of them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { readRun, type RunSummary } from "../../trainer/run-folder/run-summary.ts";
import { best } from "./runs.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import { safeText } from "../terminal/terminal.ts";

type Metrics = Readonly<Record<string, number>>;

/** Options whose values say only which run it is. */
const names = new Set(["trainer.experiment_name", "trainer.output_dir"]);

function flatten(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    for (const [key, own] of Object.entries(value)) {
      flatten(own, path === "" ? key : `${path}.${key}`, into);
    }
  } else into.set(path, JSON.stringify(value) ?? "null");
  return into;
}

/** The last line of each phase; cut-off lines are left out. */
function lastMetrics(run: string): Metrics {
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
  /** Options that differ, as JSON; null where a run has no such option. */
  readonly options: Readonly<Record<string, readonly [string | null, string | null]>>;
  /** Metrics of the last step and of the last validation; null where a run has none. */
  readonly metrics: Readonly<Record<string, readonly [number | null, number | null]>>;
}

export async function compareRuns(a: string, b: string): Promise<RunComparison> {
  const runs = await Promise.all(
    [a, b].map((name) => readRun(existsSync(name) ? name : join("runs", name))),
  );
  const [first, second] = runs as [RunSummary, RunSummary];
  const [one, two] = runs.map(({ path }) =>
    flatten(parse(readFileSync(join(path, "config.resolved.yaml"), "utf8"))),
  ) as [Map<string, string>, Map<string, string>];
  const keys = [...new Set([...one.keys(), ...two.keys()])].sort();
  const differ = keys.filter((key) => !names.has(key) && one.get(key) !== two.get(key));
  const [m1, m2] = runs.map(({ path }) => lastMetrics(path)) as [Metrics, Metrics];
  const metricNames = [...new Set([...Object.keys(m1), ...Object.keys(m2)])]
    .filter((name) => !name.startsWith("time/"))
    .sort();
  return {
    a: first,
    b: second,
    options: Object.fromEntries(
      differ.map((key) => [key, [one.get(key) ?? null, two.get(key) ?? null]]),
    ),
    metrics: Object.fromEntries(
      metricNames.map((name) => [name, [m1[name] ?? null, m2[name] ?? null]]),
    ),
  };
}

const number = (value: number | null): string =>
  value === null ? "-" : String(Number(value.toPrecision(4)));

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1, 2].map((i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** The metrics that a person looks at first. */
const isMain = (name: string): boolean =>
  /^(?:reward\/mean|val\/|train\/(?:loss|grad_norm|kl|entropy))/u.test(name);

export async function compareRunsCommand(
  a: string,
  b: string,
  flags: { readonly json?: boolean },
  io: CliIo,
): Promise<number> {
  const comparison = await compareRuns(a, b);
  if (flags.json === true) {
    io.stdout.write(`${JSON.stringify(comparison)}\n`);
    return exitCodes.done;
  }
  const { a: one, b: two, options, metrics } = comparison;
  const changed = Object.entries(options).map(([key, [x, y]]) => [key, x ?? "-", y ?? "-"]);
  const measured = Object.entries(metrics).filter(([name]) => isMain(name));
  const lines = table([
    ["", one.name, two.name],
    ["status", one.status, two.status],
    ["steps", String(one.steps), String(two.steps)],
    ["best validation", best(one), best(two)],
    ...(changed.length === 0 ? [["options", "the same", "the same"]] : changed),
    ...measured.map(([name, [x, y]]) => [name, number(x), number(y)]),
  ]);
  io.stdout.write(`${lines.map(safeText).join("\n")}\n`);
  return exitCodes.done;
}
