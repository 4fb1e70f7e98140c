/** What a rule is, and the rule that most are: a metric that is bad in enough of the newest steps. */
import type { DiseaseName } from "../../core/health.ts";
import { type History, type Point, windowSteps } from "./history.ts";

/** What a rule saw. */
export interface Seen {
  readonly evidence: string;
  readonly steps: readonly number[];
}

/** Pure: the same history gives the same result. */
export interface Rule {
  readonly disease: DiseaseName;
  readonly find: (history: History) => Seen | null;
}

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

/** The same for a number that is calculated from several metrics of a step. */
export function ratio(history: History, above: string, below: string): readonly Point[] {
  const divisors = new Map(history.recent(below).map(({ step, value }) => [step, value]));
  return history.recent(above).flatMap(({ step, value }) => {
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
