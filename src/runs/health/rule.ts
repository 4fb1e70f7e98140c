/** What a rule is, and the rule that most are: a metric that is bad in enough of the newest steps. */
import type { DiseaseName } from "../../core/health.ts";
import { type History, type Point, windowSteps } from "./history.ts";

/** What a rule saw. */
export interface Seen {
  readonly evidence: string;
  readonly steps: readonly number[];
  /** Less than the disease usually is. @default that of the disease */
  readonly severity?: "warning";
}

/** What the first of several rules sees: they have one cause, or one remedy. */
export const firstOf =
  (...rules: readonly Find[]): Find =>
  (history) => {
    for (const find of rules) {
      const seen = find(history);
      if (seen !== null) return seen;
    }
    return null;
  };

/** A rule that only warns. */
export const warning =
  (find: Find): Find =>
  (history) => {
    const seen = find(history);
    return seen === null ? null : { ...seen, severity: "warning" };
  };

/** Pure: the same history gives the same result. */
export type Find = (history: History) => Seen | null;

/** Of a family, by the disease that each finds. */
export type Rules = Readonly<Partial<Record<DiseaseName, Find>>>;

/** For what is no problem once the task is solved. */
export const unlessSolved =
  (find: Find): Find =>
  (history) =>
    history.isSolved ? null : find(history);

export const percent = (value: number): string => `${(100 * value).toFixed(0)} %`;
export const short = (value: number): string => String(Number(value.toPrecision(3)));

/** A disease is named only where this many steps show it. */
const minSteps = 3;

export interface Threshold {
  readonly metric: string;
  readonly isBad: (value: number, first: number) => boolean;
  readonly says: (value: number, first: number) => string;
  /** Fraction of the newest steps that must be bad. */
  readonly share: number;
  /** @default 3 */
  readonly minBad?: number;
}

/** Bad in `share` of the newest steps, and in the newest of all. */
export function overThreshold(history: History, threshold: Threshold): Seen | null {
  const { metric, isBad, says, share, minBad = minSteps } = threshold;
  const points = history.recent(metric);
  const newest = points.at(-1);
  const first = history.baseline(metric) ?? history.train(metric)[0]?.value;
  if (newest === undefined || first === undefined) return null;
  const bad = points.filter(({ value }) => isBad(value, first));
  if (bad.length < Math.max(minBad, share * points.length)) return null;
  const last = bad.at(-1) as Point;
  return {
    evidence: `${says(last.value, first)} (${bad.length} of the last ${points.length} steps; ${metric})`,
    steps: bad.map(({ step }) => step),
  };
}

/** Above a limit in half of the newest steps. */
export const above =
  (metric: string, limit: number, says: (value: number) => string): Find =>
  (history) =>
    overThreshold(history, { metric, isBad: (value) => value > limit, says, share: 0.5 });

/** The same for a number that is calculated from several metrics of a step. */
export function ratio(history: History, part: string, whole: string): readonly Point[] {
  const divisors = new Map(history.recent(whole).map(({ step, value }) => [step, value]));
  return history.recent(part).flatMap(({ step, value }) => {
    const divisor = divisors.get(step) ?? 0;
    return divisor > 0 ? [{ step, value: value / divisor }] : [];
  });
}

/** Points above `limit`, if they are enough of the newest steps. */
export function mostlyAbove(
  points: readonly Point[],
  limit: number,
  share: number,
): readonly Point[] {
  const bad = points.filter(({ value }) => value > limit);
  return bad.length >= Math.max(minSteps, share * Math.min(points.length, windowSteps)) ? bad : [];
}
