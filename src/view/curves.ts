/** Curves over steps: smoothed, with the spread of rollouts, and means over runs. Pure. */
import type { MetricTable } from "./api/runs.ts";

export type Values = readonly (number | null)[];

/**
 * Exponential moving average that begins at the first value: each point is the weighted mean of those before it,
 * newest with the weight 1, the one before with `weight`, then `weight`² and so on. Gaps stay gaps.
 */
export function smooth(values: Values, weight: number): Values {
  if (weight <= 0) return values;
  let [sum, total] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = sum * weight + value;
    total = total * weight + 1;
    return sum / total;
  });
}

/** A mean and what lies around it. */
export interface Band {
  readonly mean: Values;
  readonly low: Values;
  readonly high: Values;
}

const seriesOf = ({ series, steps }: MetricTable, name: string): Values =>
  series[name] ?? steps.map(() => null);

/** The only series whose name has this form; null where there are several or none. */
function onlySeries({ series }: MetricTable, form: RegExp): Values | null {
  const [name, ...others] = Object.keys(series).filter((one) => form.test(one));
  return name === undefined || others.length > 0 ? null : (series[name] ?? null);
}

/** The mean reward of each step, with one standard deviation of its rollouts on either side, within their range. */
export function rewardSpread(table: MetricTable): Band {
  const mean = seriesOf(table, "reward/mean");
  const std = seriesOf(table, "reward/std");
  const least = onlySeries(table, /^reward\/[^/]+\/min$/u);
  const most = onlySeries(table, /^reward\/[^/]+\/max$/u);
  const around = (sign: 1 | -1, end: Values | null): Values =>
    mean.map((value, i) => {
      const [deviation, limit] = [std[i] ?? null, end?.[i] ?? null];
      if (value === null || deviation === null) return null;
      const edge = value + sign * deviation;
      if (limit === null) return edge;
      return sign > 0 ? Math.min(edge, limit) : Math.max(edge, limit);
    });
  return { mean, low: around(-1, least), high: around(1, most) };
}

/** Index of the largest value; null where there is none. */
export function bestOf(values: Values): number | null {
  let best: number | null = null;
  for (const [i, value] of values.entries())
    if (value !== null && (best === null || value > (values[best] ?? -Infinity))) best = i;
  return best;
}

/** Mean of several curves at each step, with the lowest and the highest of them. */
export function bandOf(curves: readonly Values[]): Band {
  const length = curves.reduce((most, values) => Math.max(most, values.length), 0);
  const at = Array.from({ length }, (_, i) =>
    curves.flatMap((values) => {
      const value = values[i] ?? null;
      return value === null ? [] : [value];
    }),
  );
  const of = (pick: (known: readonly number[]) => number): Values =>
    at.map((known) => (known.length === 0 ? null : pick(known)));
  return {
    mean: of((known) => known.reduce((sum, value) => sum + value, 0) / known.length),
    low: of((known) => Math.min(...known)),
    high: of((known) => Math.max(...known)),
  };
}

/** First and last known value. */
export function endsOf(values: Values): readonly [number | null, number | null] {
  const known = values.filter((value) => value !== null);
  return [known[0] ?? null, known.at(-1) ?? null];
}
