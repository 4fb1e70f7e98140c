/** Formats evaluations and comparisons for the terminal. */
import type {
  EvaluationComparison,
  PairedDifference,
  TaskMeans,
} from "../../runs/evaluations/compare.ts";
import type {
  Estimate,
  EvaluationScores,
  EvaluationSummary,
} from "../../runs/evaluations/summary.ts";
import { safeText } from "../terminal/terminal.ts";

const digits = (value: number): string => value.toFixed(3);
const signed = (value: number): string => `${value < 0 ? "" : "+"}${digits(value)}`;

/** `0.5`, `-`, `0.1 to 0.2`. */
const isNumber = (cell: string): boolean =>
  /^[-+]?\d*(?:\.\d+)?(?: to [-+]?\d+\.\d+)?$/u.test(cell);

/** Columns as wide as their longest cell, as safe text; numbers to the right. */
export function formatTable(given: readonly (readonly string[])[]): string {
  // Names and reasons in it are those of records.
  const rows = given.map((row) => row.map((cell) => safeText(cell).replaceAll(/[\n\t]+/gu, " ")));
  const columns = (rows[0] ?? []).map((_, i) => {
    const cells = rows.map((row) => row[i] ?? "");
    const isRight = i > 0 && cells.slice(1).every(isNumber);
    return { width: Math.max(...cells.map(({ length }) => length)), isRight };
  });
  const line = (row: readonly string[]): string =>
    columns
      .map(({ width, isRight }, i) => {
        const cell = row[i] ?? "";
        return isRight ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  return `${rows.map(line).join("\n")}\n`;
}

function scoreRows(name: string, scores: EvaluationScores): string[][] {
  const row = (metric: string, { mean, low, high }: Estimate): string[] => [
    safeText(name),
    safeText(metric),
    digits(mean),
    `${digits(low)} to ${digits(high)}`,
  ];
  return [
    ...Object.entries(scores.passAt).map(([k, estimate]) => row(`pass@${k}`, estimate)),
    ...(scores.reward === null ? [] : [row("reward", scores.reward)]),
    ...Object.entries(scores.signals).map(([signal, estimate]) => row(signal, estimate)),
  ];
}

/** Tables with means, then what failed and what it took. */
export function formatEvaluation(summary: EvaluationSummary): string {
  const { model, tasks, n, rollouts, planned, failed, usage, latencyMs } = summary;
  const rows = [
    ["data", "metric", "mean", "95 % interval"],
    ...scoreRows("all", summary),
    ...Object.entries(summary.sources).flatMap(([name, scores]) => scoreRows(name, scores)),
  ];
  const each = n === 1 ? "1 attempt" : `${n} attempts`;
  const progress = rollouts === planned ? "" : `, ${rollouts} of ${planned} attempts done`;
  const lines = [
    `${safeText(model)}: ${tasks} tasks, ${each} each${progress}, ${failed} failed`,
    "",
    formatTable(rows),
    `${usage.calls} model calls, ${usage.promptTokens} prompt tokens, ${usage.responseTokens} response tokens`,
    ...(latencyMs === null
      ? []
      : [
          `seconds per attempt: mean ${digits(latencyMs.mean / 1000)}, median ${digits(latencyMs.p50 / 1000)}, 95th percentile ${digits(latencyMs.p95 / 1000)}`,
        ]),
    ...summary.errors
      .slice(0, 5)
      .map(({ message, count }) => `failed ${count}×: ${safeText(message).slice(0, 300)}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** Both means, their difference, and its interval. */
export function differenceCells({ a, b, difference, low, high }: PairedDifference): string[] {
  const interval =
    low === null || high === null ? "too few tasks" : `${signed(low)} to ${signed(high)}`;
  return [digits(a), digits(b), signed(difference), interval];
}

const differenceRow = (metric: string, found: PairedDifference | null): string[][] =>
  found === null ? [] : [[metric, "", ...differenceCells(found)]];

const shown = ({ reward, pass }: TaskMeans): string =>
  `reward ${reward === null ? "-" : digits(reward)}${pass === null ? "" : `, pass ${digits(pass)}`}`;

/** At most this many changed tasks. */
const maxChanged = 20;

export function formatComparison(comparison: EvaluationComparison): string {
  const { tasks, reward, pass, changed, onlyInA, onlyInB, isWorse, isBetter } = comparison;
  const verdict = isWorse
    ? "B is worse than A"
    : isBetter
      ? "B is better than A"
      : "no clear difference";
  const more = changed.length - maxChanged;
  const lines = [
    formatTable([
      ["metric", "", "A", "B", "B - A", "95 % interval"],
      ...differenceRow("pass@1", pass),
      ...differenceRow("reward", reward),
    ]),
    `${verdict}; ${tasks} tasks in both, ${changed.length} changed`,
    ...(onlyInA.length + onlyInB.length === 0
      ? []
      : [`not compared: ${onlyInA.length} tasks only in A, ${onlyInB.length} only in B`]),
    ...changed
      .slice(0, maxChanged)
      .map(({ id, a, b }) => `  ${safeText(id)}: ${shown(a)} -> ${shown(b)}`),
    ...(more > 0 ? [`  and ${more} more; --json lists all`] : []),
  ];
  return `${lines.join("\n")}\n`;
}
