/**
 * Rejection of tokens and rows that the weights being trained would hardly have sampled. A rule is a
 * statistic of the log-ratios x and its upper bound:
 *
 * - statistic: k1 = -x, k2 = x^2 / 2, k3 = exp(x) - 1 - x
 * - level: of each token, or the sum, mean or maximum over a row, which is then kept or dropped as a whole
 *
 * Bounds of k1 are bounds of exp(-x), the sampler's probability over the trainer's, as in verl from 0.7.1
 * on: kept when log low <= -x <= log high; a single bound t means [1/t, t]. k2 and k3 are kept up to their
 * bound. All rules must hold. A veto drops a row when a single ratio is below its threshold.
 */
import { estimateKl } from "../../core/loss/kl.ts";
import { limitLogRatio } from "../../core/loss/log-ratio.ts";
import { klEstimators, type KlEstimator } from "../../core/loss/loss.ts";
import { parseBounds, sumOf, type RatioBounds, type TokenValues } from "./log-ratios.ts";

const levels = ["token", "seq_sum", "seq_mean", "seq_max"] as const;
type Level = (typeof levels)[number];

/** The maximum of k1 over a row would check only one of its two bounds, so there is no `seq_max_k1`. */
export const rejectionNames: readonly string[] = levels.flatMap((level) =>
  klEstimators
    .filter((statistic) => level !== "seq_max" || statistic !== "k1")
    .map((statistic) => `${level}_${statistic}`),
);

export interface RejectionRule {
  readonly level: Level;
  readonly statistic: KlEstimator;
  /** For k1: bounds of exp(-x). For k2 and k3: only `high` counts. */
  readonly bounds: RatioBounds;
}

function parseRule(name: string, threshold: string): RejectionRule | string {
  const level = levels.find((candidate) => name.startsWith(`${candidate}_`));
  const statistic = klEstimators.find((candidate) => name.endsWith(`_${candidate}`));
  if (level === undefined || statistic === undefined || !rejectionNames.includes(name))
    return `there is no rejection "${name}"; there are ${rejectionNames.join(", ")}`;
  const single = threshold === "" ? NaN : Number(threshold);
  if (statistic !== "k1") {
    if (single > 0) return { level, statistic, bounds: { low: 0, high: single } };
    return `the threshold of ${name} must be a number above 0, but is "${threshold}"`;
  }
  if (single > 1) return { level, statistic, bounds: { low: 1 / single, high: single } };
  const bounds = parseBounds(threshold);
  if (bounds !== null && bounds.low > 0) return { level, statistic, bounds };
  return `the threshold of ${name} must be a number above 1 or low_high, but is "${threshold}"`;
}

/**
 * Parses rules as options hold them: `["token_k1=0.5_2", "seq_mean_k3=0.5"]`.
 * @returns what is wrong, when something is.
 */
export function parseRejection(listed: readonly string[]): readonly RejectionRule[] | string {
  const rules = listed.map((rule) => {
    const [name = "", threshold = ""] = rule.split("=");
    return parseRule(name.trim(), threshold.trim());
  });
  const problem = rules.find((rule) => typeof rule === "string");
  return problem ?? (rules as RejectionRule[]);
}

function holds({ statistic, bounds }: RejectionRule, value: number): boolean {
  if (statistic !== "k1") return value <= bounds.high;
  return value >= Math.log(bounds.low) && value <= Math.log(bounds.high);
}

function rowValue(level: Level, values: Float64Array): number {
  if (level === "seq_max") return values.reduce((most, value) => Math.max(most, value), -Infinity);
  return level === "seq_sum" ? sumOf(values) : sumOf(values) / values.length;
}

export interface Rejection {
  /** [row][trained token] 1 where it is kept. */
  readonly kept: readonly Uint8Array[];
  /**
   * `rollout_correction/...`: fractions of tokens that were dropped, of rows that lost any (verl's
   * `seq_masked`) and of rows that lost all; empty without a token.
   */
  readonly metrics: Readonly<Record<string, number>>;
}

/** @param veto ratio below which a token drops its whole row; null = no veto. */
export function reject(
  logRatios: TokenValues,
  rules: readonly RejectionRule[],
  veto: number | null,
): Rejection {
  let vetoed = 0;
  const kept = logRatios.map((row) => {
    const keep = new Uint8Array(row.length).fill(1);
    if (veto !== null && row.some((x) => x < Math.log(veto))) {
      vetoed++;
      return keep.fill(0);
    }
    for (const rule of rules) {
      const values = row.map((x) => estimateKl(rule.statistic, -limitLogRatio(x)));
      if (rule.level === "token") {
        for (const [i, value] of values.entries()) if (!holds(rule, value)) keep[i] = 0;
      } else if (row.length > 0 && !holds(rule, rowValue(rule.level, values))) {
        keep.fill(0);
      }
    }
    return keep;
  });
  const rows = kept.filter((row) => row.length > 0);
  const tokens = rows.reduce((sum, row) => sum + row.length, 0);
  if (tokens === 0) return { kept, metrics: {} };
  const left = rows.reduce((sum, row) => sum + sumOf(row), 0);
  return {
    kept,
    metrics: {
      "rollout_correction/rollout_rs_masked_fraction": 1 - left / tokens,
      "rollout_correction/rollout_rs_seq_masked_fraction":
        rows.filter((row) => row.includes(0)).length / rows.length,
      "rollout_correction/rollout_rs_seq_dropped_fraction":
        rows.filter((row) => !row.includes(1)).length / rows.length,
      ...(veto === null
        ? {}
        : { "rollout_correction/rollout_token_veto_fraction": vetoed / rows.length }),
    },
  };
}
