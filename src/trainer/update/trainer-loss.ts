/**
 * An optimizer step on a loss that the backend does not know. To first order, every loss equals its
 * gradient: rows get the negative gradient of each token as its advantage and the current
 * log-probability in place of the sampled one, so that the gradient of `importance_sampling`, all of
 * whose ratios are 1, is that of the loss. Needs the current log-probabilities.
 */
import { factorsByAdapter, rowsByAdapter } from "../../core/loss/adapter-updates.ts";
import { targetPositions } from "../../core/loss/aggregation.ts";
import { adapterOrDefault } from "../../core/adapter-names.ts";
import type { LossRow, RowLoss } from "../../core/loss/row-loss.ts";
import type { UpdateMetrics } from "../../core/backend.ts";
import type { LossSpec, OptimSpec } from "../../core/loss/loss.ts";
import { RatioMetrics } from "../../core/loss/ratio-metrics.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { refuseBeyond, type UpdateLimits } from "../../core/loss/update-limits.ts";
import type { UpdateBackend } from "./shared-forward.ts";

interface GradientRow {
  readonly row: TrainingRow;
  /** Of the loss minus that of the row it became, before the row's factor. */
  readonly difference: number;
  readonly clipped: number | undefined;
}

/** @param ratios each receives every trained token as it was: the row that replaces it has the ratio 1. */
function gradientRow(
  row: TrainingRow,
  now: Float32Array,
  lossOfRole: (role: string) => RowLoss,
  ratios: readonly RatioMetrics[],
): GradientRow {
  const targets = targetPositions(row);
  const gather = (of: (position: number) => number): Float64Array => Float64Array.from(targets, of);
  const role = row.provenance.trajectoryName;
  const input: LossRow = {
    role,
    logprobs: gather((i) => now[i]!),
    samplingLogprobs: gather((i) => row.samplingLogprobs[i]!),
    advantages: gather((i) => row.advantages[i]!),
    weights: gather((i) => row.weights?.[i] ?? 1),
  };
  const { terms, gradient, clipped, isWeighted } = lossOfRole(role)(input);
  const advantages = new Float32Array(row.tokens.length);
  let difference = 0;
  for (const [k, position] of targets.entries()) {
    for (const one of ratios) one.add(input.logprobs[k]!, input.samplingLogprobs[k]!);
    advantages[position] = -gradient[k]!;
    difference += (isWeighted === true ? 1 : input.weights[k]!) * terms[k]! - gradient[k]!;
  }
  const { weights: _, ...rest } = row;
  return { row: { ...rest, advantages, samplingLogprobs: now }, difference, clipped };
}

/**
 * @param lossOfRole the loss of each row, by its trajectory's name.
 * @throws NumericsError for a loss that is not finite; LIMIT_EXCEEDED beyond `limits`, with nothing
 * changed.
 */
export async function updateWithTrainerLoss(
  backend: Pick<UpdateBackend, "forward" | "updatePolicy">,
  rows: readonly TrainingRow[],
  { spec, lossOfRole }: { readonly spec: LossSpec; readonly lossOfRole: (role: string) => RowLoss },
  optim: OptimSpec,
  limits?: UpdateLimits,
): Promise<UpdateMetrics> {
  // A backend without it was refused at the start.
  const now = (await backend.forward?.(rows, "current")) ?? [];
  const ratios = new RatioMetrics();
  const byAdapter = new Map(
    Array.from(rowsByAdapter(rows), ([name, places]) => [
      name,
      { places, ratios: new RatioMetrics() },
    ]),
  );
  const gradient = rows.map((row, i) => {
    const own = byAdapter.get(adapterOrDefault(row.adapter))!.ratios;
    return gradientRow(row, now[i]!, lossOfRole, [ratios, own]);
  });
  for (const { ratios: own } of byAdapter.values()) refuseBeyond(limits, own.summary());
  const { dualClip: _, ...shared } = spec;
  const metrics = await backend.updatePolicy(
    gradient.map(({ row }) => row),
    { ...shared, name: "importance_sampling" },
    optim,
    undefined,
    limits,
  );
  const factors = factorsByAdapter(rows, spec);
  const counts = gradient.flatMap(({ clipped }) => (clipped === undefined ? [] : [clipped]));
  const clipped = counts.reduce((sum, count) => sum + count, 0);
  const differenceOf = (places: Iterable<number>): number =>
    [...places].reduce((sum, i) => sum + factors[i]! * gradient[i]!.difference, 0);
  const withDifference = (key: string, places: Iterable<number>): UpdateMetrics =>
    metrics[key] === undefined ? {} : { [key]: metrics[key] + differenceOf(places) };
  const ofAdapters = Array.from(byAdapter, ([name, { places, ratios: own }]) => {
    const prefix = `adapters/${name}/`;
    if (metrics[`${prefix}loss`] === undefined) return {};
    const measured = Object.entries(own.summary()).map(([key, value]) => [prefix + key, value]);
    return { ...withDifference(`${prefix}loss`, places), ...Object.fromEntries(measured) };
  });
  return {
    ...metrics,
    ...withDifference("loss", rows.keys()),
    ...ratios.summary(),
    ...Object.assign({}, ...ofAdapters),
    ...(counts.length === 0 ? {} : { clip_fraction: clipped / Math.max(1, ratios.tokens) }),
  };
}
