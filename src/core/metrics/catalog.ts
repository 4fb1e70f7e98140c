/**
 * Every metric of a run: name, unit, meaning, and when it is there. `docs/metrics.md` is written from it
 * (`npm run schema`), and a test compares it with what runs report.
 */
import { distillationMetrics } from "./distillation-metrics.ts";
import { fineTuningMetrics } from "./fine-tuning-metrics.ts";
import { groupMetrics } from "./group-metrics.ts";
import { loopMetrics } from "./loop-metrics.ts";
import { rolloutMetrics } from "./rollout-metrics.ts";
import { updateMetrics } from "./update-metrics.ts";

type MetricUnit =
  | "0 or 1"
  | "count"
  | "fraction"
  | "logprob"
  | "mean count"
  | "nats"
  | "norm"
  | "number"
  | "ratio"
  | "reward"
  | "seconds"
  | "tokens"
  | "tokens per second"
  | "US dollars"
  | "weight"
  | "advantage";

export interface MetricEntry {
  /** Placeholders such as `{role}` stand for one or more segments of a path. */
  readonly names: readonly string[];
  readonly unit: MetricUnit;
  readonly meaning: string;
  /** @default in every step */
  readonly when?: string;
  /** @default all */
  readonly backends?: readonly string[];
}

export interface MetricSection {
  readonly title: string;
  readonly about?: string;
  readonly entries: readonly MetricEntry[];
}

/** In the order of `docs/metrics.md`. */
export const metricSections: readonly MetricSection[] = [
  ...rolloutMetrics,
  ...groupMetrics,
  ...updateMetrics,
  ...loopMetrics,
  ...distillationMetrics,
  ...fineTuningMetrics,
];

/** `A{x}B` to every string of that form. */
type Named<S extends string> = S extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Named<After>}`
  : S;
type Sections =
  | typeof rolloutMetrics
  | typeof groupMetrics
  | typeof updateMetrics
  | typeof loopMetrics
  | typeof distillationMetrics
  | typeof fineTuningMetrics;

/** The name of a metric in the catalog. */
type MetricName = Named<Sections[number]["entries"][number]["names"][number]>;

/** Metrics whose names are checked by the compiler. */
export type NamedMetrics = Partial<Record<MetricName, number>>;

const patterns = metricSections
  .flatMap(({ entries }) => entries)
  .flatMap((entry) => entry.names.map((name) => ({ entry, name, pattern: patternOf(name) })));

function patternOf(name: string): RegExp {
  const parts = name.split(/\{\w+\}/u).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/gu, "\\$&"));
  return new RegExp(`^${parts.join(".+")}$`, "u");
}

/** The name in the catalog that `metric` is an instance of, the one that says most of it. */
export function catalogName(metric: string): string | undefined {
  const found = patterns.filter(({ pattern }) => pattern.test(metric)).map(({ name }) => name);
  const written = (name: string): number => name.replaceAll(/\{\w+\}/gu, "").length;
  return found.toSorted((a, b) => written(b) - written(a))[0];
}
