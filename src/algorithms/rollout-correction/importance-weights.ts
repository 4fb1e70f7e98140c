/**
 * Importance weights between the policy being trained and the one that sampled. With x the log-ratio of a
 * token and w = exp(x), or in `sequence` mode w = exp(sum of the row's x) for all of its tokens:
 *
 * - `truncate`: min(w, cap) (TIS; Yao et al. 2025, https://fengyao.notion.site/off-policy-rl)
 * - `mask`: w inside of [low, high], else 0 (masked importance sampling; per token it is IcePop)
 *
 * The weights are factors without a gradient.
 */
import { maxLogRatio, ratioOf } from "../../core/loss/log-ratio.ts";
import { concatenated, populationStd } from "../statistics.ts";
import { parseBounds, sumOf, type RatioBounds, type TokenValues } from "./log-ratios.ts";

const weightModes = ["token", "sequence"] as const;
export type WeightMode = (typeof weightModes)[number];

/** What happens to a weight that is too large, or too small. */
export type WeightLimit =
  | { readonly kind: "truncate"; readonly cap: number }
  | ({ readonly kind: "mask" } & RatioBounds);

/** `2` truncates at 2, `"0.5_2"` masks outside of 0.5 to 2; null when it is neither. */
export function parseWeightLimit(value: number | string): WeightLimit | null {
  const cap = Number(value);
  if (String(value).trim() !== "" && cap > 0 && Number.isFinite(cap))
    return { kind: "truncate", cap };
  const bounds = parseBounds(String(value));
  return bounds === null ? null : { kind: "mask", ...bounds };
}

export interface WeightOptions {
  readonly mode: WeightMode;
  readonly limit: WeightLimit;
  /**
   * Divide by the mean over tokens, or in `sequence` mode over rows, so that the size of the step is
   * unchanged.
   */
  readonly normalize: boolean;
}

export interface ImportanceWeights {
  /** [row][trained token] */
  readonly weights: TokenValues;
  /**
   * `rollout_correction/rollout_is_...`, before normalization; empty without a token. Names and meanings
   * are verl's: in `sequence` mode extremes and fractions are of rows, by their ratio before the limit.
   */
  readonly metrics: Readonly<Record<string, number>>;
}

function limited(ratio: number, limit: WeightLimit): number {
  if (limit.kind === "truncate") return Math.min(ratio, limit.cap);
  return ratio >= limit.low && ratio <= limit.high ? ratio : 0;
}

export function importanceWeights(
  logRatios: TokenValues,
  { mode, limit, normalize }: WeightOptions,
): ImportanceWeights {
  const ratios = logRatios.map((row) => {
    if (mode === "token") return row.map(ratioOf);
    return new Float64Array(row.length).fill(ratioOf(sumOf(row)));
  });
  const weights = ratios.map((row) => row.map((ratio) => limited(ratio, limit)));
  const metrics = weightMetrics(logRatios, weights, { mode, limit });
  if (!normalize) return { weights, metrics };
  const rows = weights.filter((row) => row.length > 0);
  const counted = mode === "token" ? concatenated(rows) : rows.map((row) => row[0] as number);
  const mean = sumOf(counted) / Math.max(1, counted.length);
  const scale = mean > 0 ? 1 / mean : 1;
  return { weights: weights.map((row) => row.map((weight) => weight * scale)), metrics };
}

/** ESS = 1 / mean((w / mean w)^2), the effective fraction of tokens. */
function weightMetrics(
  logRatios: TokenValues,
  weights: TokenValues,
  { mode, limit }: Pick<WeightOptions, "mode" | "limit">,
): Record<string, number> {
  const all = concatenated(weights);
  if (all.length === 0) return {};
  const isByRow = mode === "sequence";
  const trained = logRatios.filter((row) => row.length > 0);
  const raw = isByRow ? Float64Array.from(trained, sumOf) : concatenated(trained);
  // Not limited from below: a row's ratio may be far smaller than exp(-20).
  const extremes = isByRow ? raw.map((x) => Math.exp(Math.min(x, maxLogRatio))) : all;
  const { low, high } = limit.kind === "mask" ? limit : { low: 1 / limit.cap, high: limit.cap };
  const mean = sumOf(all) / all.length;
  const square = all.reduce((sum, weight) => sum + weight * weight, 0) / all.length;
  const share = (test: (logRatio: number) => boolean): number =>
    raw.filter(test).length / raw.length;
  const rows = weights.filter((row) => row.length > 0).map((row) => sumOf(row) / row.length);
  const named = {
    mean,
    std: populationStd(all),
    max: extremes.reduce((most, value) => Math.max(most, value), 0),
    min: extremes.reduce((least, value) => Math.min(least, value), Infinity),
    eff_sample_size: square > 0 ? mean ** 2 / square : 0,
    ratio_fraction_high: share((x) => x > Math.log(high)),
    ratio_fraction_low: share((x) => x < Math.log(low)),
    seq_mean: sumOf(rows) / rows.length,
  };
  return Object.fromEntries(
    Object.entries(named).map(([name, value]) => [`rollout_correction/rollout_is_${name}`, value]),
  );
}
