/** What a sweep has found: a metric of each run, means over seeds, and how points differ seed by seed. */
import { lastMetrics } from "../compare-runs.ts";
import type { PairedDifference } from "../evaluations/compare.ts";
import { meanInterval, type MeanInterval } from "./mean-interval.ts";
import type { SweepPoint } from "./sweep-plan.ts";

/** A run of a sweep. `waiting`: it has not begun, or was stopped before its end. */
export interface SweepRun {
  readonly name: string;
  /** Path of its folder. */
  readonly path: string;
  readonly seed: number;
  readonly status: "completed" | "untrained" | "out_of_budget" | "failed" | "waiting";
  /** Why it failed, ended early or learned nothing; null otherwise. */
  readonly message: string | null;
  /** The metric at its end; null where it has none, and of runs that failed or wait. */
  readonly value: number | null;
}

/** A point of a sweep, over its seeds. */
export interface SweepPointReport {
  /** Options by dotted key; none in a sweep over seeds alone. */
  readonly options: SweepPoint;
  readonly runs: readonly SweepRun[];
  /** Over the runs that have a value; null where none has. */
  readonly result: MeanInterval | null;
  /** This point minus the best one, over the seeds that both have; null for the best, and without such seeds. */
  readonly toBest: PairedDifference | null;
}

/** The result of a sweep. */
export interface SweepReport {
  /** What runs are compared by: at the last validation, or the last step. */
  readonly metric: string;
  readonly points: readonly SweepPointReport[];
  /** Whether a lower value is a better one: of a loss. */
  readonly isLowerBetter: boolean;
  /** Index of the point with the best mean; null where no run has a value. */
  readonly best: number | null;
}

/** What a sweep compares by, unless it is told: the first that the run has. The losses are of fine-tuning. */
const usual = ["val/reward/mean", "reward/mean", "val/loss", "train/loss"];

export function valueOf(folder: string, metric: string | null): readonly [string, number] | null {
  const metrics = lastMetrics(folder);
  const names = metric === null ? usual : [metric];
  for (const name of names) {
    const value = metrics[name];
    if (value !== undefined && Number.isFinite(value)) return [name, value];
  }
  return null;
}

const bySeed = (runs: readonly SweepRun[]): ReadonlyMap<number, number> =>
  new Map(runs.flatMap(({ seed, value }) => (value === null ? [] : [[seed, value] as const])));

/** `b` minus `a`, over the seeds that both have. */
function pairedBySeed(a: readonly SweepRun[], b: readonly SweepRun[]): PairedDifference | null {
  const [first, second] = [bySeed(a), bySeed(b)];
  const pairs = [...first].flatMap(([seed, value]) => {
    const other = second.get(seed);
    return other === undefined ? [] : [[value, other] as const];
  });
  if (pairs.length === 0) return null;
  const { mean, low, high } = meanInterval(pairs.map(([one, other]) => other - one));
  const meanOf = (side: 0 | 1): number => meanInterval(pairs.map((pair) => pair[side])).mean;
  return { a: meanOf(0), b: meanOf(1), difference: mean, low, high };
}

interface PointRuns {
  readonly options: SweepPoint;
  readonly runs: readonly SweepRun[];
}

export function reportSweep(metric: string, points: readonly PointRuns[]): SweepReport {
  const results = points.map(({ runs }) => {
    const values = [...bySeed(runs).values()];
    return values.length === 0 ? null : meanInterval(values);
  });
  const isLowerBetter = metric.endsWith("/loss");
  let best: number | null = null;
  let most = -Infinity;
  for (const [i, result] of results.entries()) {
    const goodness = result === null ? -Infinity : isLowerBetter ? -result.mean : result.mean;
    if (goodness > most) [best, most] = [i, goodness];
  }
  const bestRuns = best === null ? [] : (points[best]?.runs ?? []);
  return {
    metric,
    isLowerBetter,
    best,
    points: points.map((point, i) => ({
      ...point,
      result: results[i] ?? null,
      toBest: i === best ? null : pairedBySeed(bestRuns, point.runs),
    })),
  };
}
