/** The result of a sweep for the terminal: a row for each point, best first, and what failed. */
import type { SweepResult } from "../../launch/sweep/sweep-options.ts";
import type { SweepPointReport, SweepRun } from "../../runs/sweeps/sweep-report.ts";
import { formatTable } from "./evaluation-table.ts";
import { safeText } from "../terminal/terminal.ts";

const digits = (value: number): string => value.toFixed(3);
const signed = (value: number): string => `${value < 0 ? "" : "+"}${digits(value)}`;

const interval = (
  found: { readonly low: number | null; readonly high: number | null },
  show: (value: number) => string,
): string =>
  found.low === null || found.high === null
    ? "one seed"
    : `${show(found.low)} to ${show(found.high)}`;

const shown = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

function rowOf(point: SweepPointReport, keys: readonly string[], isBest: boolean): string[] {
  const { options, runs, result, toBest } = point;
  const seeds = runs.filter(({ value }) => value !== null).length;
  return [
    ...keys.map((key) => shown(options[key])),
    `${seeds}/${runs.length}`,
    ...(result === null ? ["", ""] : [digits(result.mean), interval(result, digits)]),
    ...(keys.length === 0
      ? []
      : toBest === null
        ? [isBest ? "best" : "", ""]
        : [signed(toBest.difference), interval(toBest, signed)]),
  ];
}

const runLines = (runs: readonly SweepRun[]): string[] =>
  runs.flatMap(({ name, status, message }) =>
    status === "failed" ? [`failed: ${safeText(name)}: ${safeText(message ?? "")}`] : [],
  );

export function formatSweep({
  metric,
  isLowerBetter,
  points,
  best,
  ...result
}: SweepResult): string {
  const keys = [...new Set(points.flatMap(({ options }) => Object.keys(options)))];
  const runs = points.flatMap((point) => point.runs);
  const count = (status: SweepRun["status"]): number =>
    runs.filter((run) => run.status === status).length;
  const order = points
    .map((point, i) => ({
      point,
      i,
      mean: point.result?.mean ?? (isLowerBetter ? Infinity : -Infinity),
    }))
    .toSorted((a, b) => (isLowerBetter ? a.mean - b.mean : b.mean - a.mean));
  const [failed, waiting] = [count("failed"), count("waiting")];
  const done = runs.length - failed - waiting;
  const state = `${done} of ${runs.length} runs done${failed > 0 ? `, ${failed} failed` : ""}${waiting > 0 ? `, ${waiting} left` : ""}`;
  const header = [...keys, "seeds", safeText(metric), "95 % interval"];
  const lines = [
    `${result.status.replaceAll("_", " ")}: ${state}`,
    "",
    formatTable([
      keys.length === 0 ? header : [...header, "to best, by seed", "95 % interval"],
      ...order.map(({ point, i }) => rowOf(point, keys, i === best)),
    ]).trimEnd(),
    "",
    ...runLines(runs),
    `folder: ${safeText(result.folder)}`,
  ];
  return `${lines.join("\n")}\n`;
}
