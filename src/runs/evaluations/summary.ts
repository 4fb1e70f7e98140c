/** The summary of an evaluation: means as a validation computes them, with confidence intervals. Pure. */
import { isFailed, isUserFault } from "../../core/outcome.ts";
import type { Episode } from "../../core/trajectory.ts";
import { passAtK, validationMetrics, validationReward } from "../validation-metrics.ts";
import { groupBy } from "../../util/group-by.ts";
import { confidenceInterval, type TaskTotal } from "./bootstrap.ts";
import { episodeOf, type EvaluationItem } from "./evaluation-item.ts";

/** A mean with its 95 % confidence interval (percentile bootstrap over tasks). */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** How some tasks came out. */
export interface EvaluationScores {
  readonly tasks: number;
  readonly rollouts: number;
  /** Attempts that failed; they count as incorrect, and with `rollout.failure_reward`. */
  readonly failed: number;
  /** null where nothing was scored. */
  readonly reward: Estimate | null;
  /** By k, from 1 to n; empty where neither the evaluator nor the agent says what is correct. */
  readonly passAt: Readonly<Record<string, Estimate>>;
  /** By name, over the attempts that have the signal. */
  readonly signals: Readonly<Record<string, Estimate>>;
}

/** What `summary.json` holds. */
export interface EvaluationSummary extends EvaluationScores {
  readonly status: "completed" | "out_of_budget" | "interrupted" | "failed";
  /** What was evaluated, for people. */
  readonly model: string;
  /** Attempts at each task. */
  readonly n: number;
  readonly seed: number;
  /** Attempts that the whole evaluation has. */
  readonly planned: number;
  /** Reward that a failed attempt counts with. */
  readonly failureReward: number;
  /** By `metadata.data_source` of the tasks. */
  readonly sources: Readonly<Record<string, EvaluationScores>>;
  /** Number of attempts by the reason that they ended with. */
  readonly terminationReasons: Readonly<Record<string, number>>;
  /** The most frequent errors of failed attempts. */
  readonly errors: readonly { readonly message: string; readonly count: number }[];
  readonly usage: EvaluationItem["usage"];
  /** Milliseconds that attempts took; null without any. */
  readonly latencyMs: { readonly mean: number; readonly p50: number; readonly p95: number } | null;
  /** The same numbers as those of a validation of the trainer, under the same names: `val/...`. */
  readonly metrics: Readonly<Record<string, number>>;
}

export type SummaryFacts = Pick<
  EvaluationSummary,
  "status" | "model" | "n" | "seed" | "planned" | "failureReward"
>;

type Tasks = readonly (readonly EvaluationItem[])[];

const totalOf = (values: readonly number[]): TaskTotal => ({
  sum: values.reduce((sum, value) => sum + value, 0),
  count: values.length,
});

/** @param mean as a validation computes it; by default of the same totals. */
function estimate(totals: readonly TaskTotal[], seed: number, mean?: number): Estimate | null {
  const counted = totals.filter(({ count }) => count > 0);
  if (counted.length === 0) return null;
  const { sum } = totalOf(counted.map((task) => task.sum));
  const { sum: values } = totalOf(counted.map(({ count }) => count));
  return { mean: mean ?? sum / values, ...confidenceInterval(counted, seed) };
}

function passEstimates(
  tasks: Tasks,
  metrics: Readonly<Record<string, number>>,
  prefix: string,
  { n, seed }: SummaryFacts,
): Record<string, Estimate> {
  const out: Record<string, Estimate> = {};
  for (let k = 1; k <= n; k++) {
    const mean = metrics[`${prefix}/pass@${k}`];
    if (mean === undefined) continue;
    const totals = tasks
      .filter((own) => own.length >= k)
      .map((own) => {
        const right = own.filter(({ isCorrect }) => isCorrect === true).length;
        return { sum: passAtK(own.length, right, k), count: 1 };
      });
    const found = estimate(totals, seed, mean);
    if (found !== null) out[String(k)] = found;
  }
  return out;
}

function scoresOf(
  items: readonly EvaluationItem[],
  metrics: Readonly<Record<string, number>>,
  prefix: string,
  facts: SummaryFacts,
): EvaluationScores {
  const { seed, failureReward } = facts;
  const tasks: Tasks = [...groupBy(items, ({ id }) => id).values()];
  const counted = tasks.map((own) => own.filter((item) => !isUserFault(item)));
  const names = [...new Set(items.flatMap(({ signals }) => Object.keys(signals)))].sort();
  const rewards = tasks.map((own) =>
    totalOf(own.flatMap((item) => validationReward(item, failureReward) ?? [])),
  );
  const signals = names.flatMap((name) => {
    const totals = tasks.map((own) => totalOf(own.flatMap((item) => item.signals[name] ?? [])));
    const found = estimate(totals, seed);
    return found === null ? [] : [[name, found] as const];
  });
  return {
    tasks: tasks.length,
    rollouts: items.length,
    failed: items.filter(isFailed).length,
    reward: estimate(rewards, seed, metrics[`${prefix}/reward/mean`]),
    passAt: passEstimates(counted, metrics, prefix, facts),
    signals: Object.fromEntries(signals),
  };
}

function latencyOf(items: readonly EvaluationItem[]): EvaluationSummary["latencyMs"] {
  if (items.length === 0) return null;
  const sorted = items.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
  // The nearest rank.
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] as number;
  return { mean: totalOf(sorted).sum / sorted.length, p50: at(0.5), p95: at(0.95) };
}

function countsOf<T>(values: readonly T[]): [T, number][] {
  return [...groupBy(values, (value) => value)]
    .map(([value, own]): [T, number] => [value, own.length])
    .sort((a, b) => b[1] - a[1]);
}

/** @param items in the order of the tasks, and of the attempts at each. */
export function summarize(
  items: readonly EvaluationItem[],
  facts: SummaryFacts,
): EvaluationSummary {
  const episodes: readonly Episode[] = items.map(episodeOf);
  const metrics =
    items.length === 0 ? {} : validationMetrics(episodes, facts.n, facts.failureReward);
  const sources = [...groupBy(items, ({ dataSource }) => dataSource)].flatMap(([source, some]) =>
    source === null ? [] : [[source, scoresOf(some, metrics, `val/${source}`, facts)] as const],
  );
  const total = (name: keyof EvaluationItem["usage"]): number =>
    items.reduce((sum, { usage }) => sum + usage[name], 0);
  return {
    ...facts,
    ...scoresOf(items, metrics, "val", facts),
    sources: Object.fromEntries(sources),
    terminationReasons: Object.fromEntries(
      countsOf(items.map(({ terminationReason }) => terminationReason)),
    ),
    errors: countsOf(
      items.flatMap(({ error }) =>
        error === undefined ? [] : [`${error.name}: ${error.message}`],
      ),
    )
      .slice(0, 10)
      .map(([message, count]) => ({ message, count })),
    usage: {
      calls: total("calls"),
      promptTokens: total("promptTokens"),
      responseTokens: total("responseTokens"),
    },
    latencyMs: latencyOf(items),
    metrics,
  };
}
