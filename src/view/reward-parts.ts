/** Correlations of the reward with its parts and with the length of episodes. */
import type { Correlation, RewardParts } from "./api/runs.ts";
import type { ScoredRow } from "./index/query.ts";

/** Signals beyond it are dropped: a matrix of more cannot be read. */
const maxSignals = 12;

/** Of a two-sided interval of 95 % of a normal distribution. */
const z95 = 1.959964;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Pearson's correlation, with the interval of Fisher's transformation: tanh(atanh r ± z / √(n - 3)). Null for
 * fewer than 4 pairs, and where one side never varies.
 */
export function correlation(pairs: readonly (readonly [number, number])[]): Correlation | null {
  const n = pairs.length;
  if (n < 4) return null;
  const [x, y] = [mean(pairs.map(([one]) => one)), mean(pairs.map(([, other]) => other))];
  let [xx, yy, xy] = [0, 0, 0];
  for (const [one, other] of pairs) {
    xx += (one - x) ** 2;
    yy += (other - y) ** 2;
    xy += (one - x) * (other - y);
  }
  // What is left of rounding is no variance.
  const least = (center: number): number => n * (1e-9 * Math.max(1e-6, Math.abs(center))) ** 2;
  if (xx <= least(x) || yy <= least(y)) return null;
  const r = Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)));
  const half = z95 / Math.sqrt(n - 3);
  const at = Math.atanh(r);
  return { r, low: Math.tanh(at - half), high: Math.tanh(at + half), episodes: n };
}

type Column = readonly [string, (row: ScoredRow) => number | null];

/** Null where there is no episode with a reward. */
export function rewardParts(rows: readonly ScoredRow[]): RewardParts | null {
  if (rows.length === 0) return null;
  const names = new Set(rows.flatMap(({ signals }) => Object.keys(signals)));
  const columns: readonly Column[] = [
    ["reward", ({ reward }) => reward],
    ...[...names]
      .toSorted()
      .slice(0, maxSignals)
      .map((name): Column => [name, ({ signals }) => signals[name] ?? null]),
    ["response tokens", ({ responseTokens }) => responseTokens],
    ["calls", ({ calls }) => calls],
    ["tool calls", ({ toolCalls }) => toolCalls],
  ];
  const values = columns.map(([, of]) => rows.map(of));
  const pair = (i: number, j: number): Correlation | null =>
    correlation(
      rows.flatMap((_, k) => {
        const [one, other] = [values[i]?.[k] ?? null, values[j]?.[k] ?? null];
        return one === null || other === null ? [] : [[one, other] as const];
      }),
    );
  const steps = rows.map(({ step }) => step);
  return {
    names: columns.map(([name]) => name),
    episodes: rows.length,
    fromStep: steps.reduce((least, step) => Math.min(least, step), Infinity),
    toStep: steps.reduce((most, step) => Math.max(most, step), 0),
    cells: columns.map((_, i) => columns.map((_other, j) => pair(i, j))),
  };
}
