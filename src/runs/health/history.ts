/** The metrics of a run as rules read them. Bounded: the beginning and the newest lines. */

import { median } from "../../util/median.ts";

/** The numbers of one line of `metrics.jsonl`, with its step and phase. */
export interface MetricLine {
  readonly step: number;
  readonly phase: string;
  readonly values: Readonly<Record<string, number>>;
}

/** A value with its step. */
export interface Point {
  readonly step: number;
  readonly value: number;
}

/** Lines that are kept; those in between are forgotten. */
const keptFirst = 8;
const keptNewest = 120;

/** Steps that most rules look at: the newest ones. */
export const windowSteps = 10;

/** Steps of the beginning, which later ones are compared with. */
const baselineSteps = 3;

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

export const deviation = (values: readonly number[]): number => {
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
};

interface Series {
  readonly points: readonly Point[];
  /** How many of the points are of before {@link History.forget}. */
  readonly past: number;
}

export class History {
  readonly #lines: MetricLine[] = [];
  #past: ReadonlySet<MetricLine> = new Set();
  readonly #names = new Set<string>();
  /** Values by phase and metric, until the next line: rules read the same ones many times. */
  readonly #series = new Map<string, Series>();

  constructor(lines: Iterable<MetricLine> = []) {
    for (const line of lines) this.add(line);
  }

  add(line: MetricLine): void {
    this.#series.clear();
    for (const name of Object.keys(line.values)) this.#names.add(name);
    this.#lines.push(line);
    if (this.#lines.length > keptFirst + keptNewest) this.#lines.splice(keptFirst, 1);
  }

  /**
   * What has been seen so far shows nothing from now on. The first values of training stay, since later ones
   * are compared with them.
   */
  forget(): void {
    this.#series.clear();
    this.#past = new Set(this.#lines);
  }

  /** Values of a metric of training, in order. */
  train(metric: string): readonly Point[] {
    return this.#of("train", metric, baselineSteps).points;
  }

  /** Values of a metric of validations, in order. */
  validation(metric: string): readonly Point[] {
    return this.#of("validation", metric, 0).points;
  }

  /** @param keptPast how many values of before `forget` are in it */
  #of(phase: string, metric: string, keptPast: number): Series {
    const key = `${phase} ${metric} ${keptPast}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const points: Point[] = [];
    let past = 0;
    for (const line of this.#lines) {
      const value = line.phase === phase ? line.values[metric] : undefined;
      if (value === undefined) continue;
      if (this.#past.has(line) && ++past > keptPast) continue;
      points.push({ step: line.step, value });
    }
    const series = { points, past: Math.min(past, keptPast) };
    this.#series.set(key, series);
    return series;
  }

  /** Metrics that have been seen and match, such as one for each role. */
  names(pattern: RegExp): readonly string[] {
    return [...this.#names].filter((name) => pattern.test(name));
  }

  /** Median of the first values; null where there are fewer than three. */
  baseline(metric: string): number | null {
    const values = this.train(metric).slice(0, baselineSteps);
    return values.length < baselineSteps ? null : median(values.map(({ value }) => value));
  }

  /** The newest values. */
  recent(metric: string, steps: number = windowSteps): readonly Point[] {
    const { points, past } = this.#of("train", metric, baselineSteps);
    return points.slice(past).slice(-steps);
  }

  /** Mean of the newest values; null without any. */
  now(metric: string, steps = 3): number | null {
    const points = this.recent(metric, steps);
    return points.length === 0 ? null : mean(points.map(({ value }) => value));
  }

  /**
   * Whether everything succeeds by now, and did not at first: then equal rewards, a low entropy and short
   * responses are what was wanted.
   */
  get isSolved(): boolean {
    const [first, now] = [this.baseline("reward/mean"), this.now("reward/mean")];
    if (first === null || now === null || now <= first) return false;
    const correct = this.now("rollout/pass@1");
    if (correct !== null) return correct >= 0.9;
    // Without correctness: nearly every rollout has the best reward that any had.
    const highest = this.names(/^reward\/.+\/max$/u).flatMap((name) =>
      this.#of("train", name, Infinity).points.map(({ value }) => value),
    );
    const best = Math.max(...highest, now);
    return now >= best - 0.05 * Math.abs(best - first);
  }
}
