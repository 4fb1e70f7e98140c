/** Updates of several adapters as one: each is a separate objective, over its own rows. */
import { groupBy } from "../../util/group-by.ts";
import { adapterOrDefault } from "../adapter-names.ts";
import { rowFactors } from "./aggregation.ts";
import type { LossSpec, OptimSpec } from "./loss.ts";
import type { TrainingRow } from "./training-row.ts";

type Metrics = Readonly<Record<string, number>>;

/** Indices of rows by the name of their adapter, in order of first appearance. */
export function rowsByAdapter(
  rows: readonly TrainingRow[],
): ReadonlyMap<string, readonly number[]> {
  return groupBy(rows.keys(), (index) => adapterOrDefault(rows[index]!.adapter));
}

/** `rowFactors` of each adapter's rows, in the order of `rows`. */
export function factorsByAdapter(
  rows: readonly TrainingRow[],
  { aggregation, aggregationLength }: LossSpec,
): Float64Array {
  const factors = new Float64Array(rows.length);
  for (const places of rowsByAdapter(rows).values()) {
    const own = places.map((place) => rows[place]!);
    const found = rowFactors(own, aggregation, aggregationLength);
    for (const [i, place] of places.entries()) factors[place] = found[i]!;
  }
  return factors;
}

/** The optimizer of one adapter. */
export function optimOfAdapter(optim: OptimSpec, adapter: string): OptimSpec {
  const { adapterLearningRates: rates, ...shared } = optim;
  return { ...shared, learningRate: rates?.[adapter] ?? optim.learningRate };
}

/** Squares of the ratios per token, which `chi2` is one less than. */
const squaresOf = ({ chi2 }: Metrics): number | undefined =>
  chi2 === undefined ? undefined : chi2 + 1;

/**
 * Metrics of an update by adapter as those of one update: sums of what is summed, means over all tokens of what is a
 * mean per token. Those of each adapter follow as `adapters/{name}/...`.
 */
export function joinUpdates(byAdapter: ReadonlyMap<string, Metrics>): Record<string, number> {
  const all = [...byAdapter.values()];
  const joined: Record<string, number> = {};
  for (const key of new Set(all.flatMap((metrics) => Object.keys(metrics)))) {
    const having = all.filter((metrics) => metrics[key] !== undefined);
    const values = having.map((metrics) => metrics[key]!);
    const weight = key.startsWith("observation_") ? "observation_tokens" : "tokens";
    joined[key] = joinValues(
      key,
      values,
      having.map((metrics) => metrics[weight] ?? 0),
    );
  }
  const { ratio_mean: ratio } = joined;
  const squares = squaresOf(joined);
  if (ratio !== undefined && squares !== undefined) joined["ess_fraction"] = ratio ** 2 / squares;
  for (const [name, metrics] of byAdapter)
    for (const [key, value] of Object.entries(metrics)) joined[`adapters/${name}/${key}`] = value;
  return joined;
}

const summed = new Set(["loss", "tokens", "observation_tokens"]);

function joinValues(key: string, values: readonly number[], weights: readonly number[]): number {
  if (summed.has(key)) return values.reduce((sum, value) => sum + value, 0);
  if (key === "grad_norm") return Math.hypot(...values);
  if (key.endsWith("_max")) return Math.max(...values);
  if (key.endsWith("_min")) return Math.min(...values);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value, i) => sum + value * weights[i]!, 0) / total;
}
