/** Numbers of an update, from the log-probabilities that the server returns: those that `local` gives. */
import type { LossSpec } from "../../core/loss.ts";
import type { TrainingRow } from "../../core/training-row.ts";
import type { ForwardBackwardOutput } from "../../tinker-api/messages.ts";
import type { PreparedBatch } from "./datums.ts";
import type { Reduction } from "./server-profile.ts";

const sumName = "loss:sum";

export function updateMetrics(
  rows: readonly TrainingRow[],
  { rowOf }: PreparedBatch,
  output: ForwardBackwardOutput,
  loss: LossSpec,
  reduction: Reduction,
): Record<string, number> {
  const { low, high } = { low: 1 - loss.clipLow, high: 1 + loss.clipHigh };
  const isClipped = (ratio: number, advantage: number): boolean => {
    const limited = Math.min(Math.max(ratio, low), high);
    if (loss.name === "ppo") return limited * advantage < ratio * advantage;
    return loss.name === "cispo" && limited !== ratio;
  };
  const sums = { tokens: 0, difference: 0, absolute: 0, k3: 0, negative: 0, clipped: 0 };
  const ratios = { sum: 0, squares: 0, largest: 0, smallest: Infinity };
  for (const [d, index] of rowOf.entries()) {
    const row = rows[index]!;
    const logprobs = output.outputs[d]?.["logprobs"]?.data ?? [];
    for (let i = 1; i < row.tokens.length; i++) {
      if (row.targetMask[i] !== 1) continue;
      const log = logprobs[i - 1]! - row.samplingLogprobs[i]!;
      const ratio = Math.exp(log);
      sums.tokens += 1;
      sums.difference -= log;
      sums.absolute += Math.abs(log);
      sums.k3 += ratio - 1 - log;
      ratios.sum += ratio;
      ratios.squares += ratio ** 2;
      ratios.largest = Math.max(ratios.largest, ratio);
      ratios.smallest = Math.min(ratios.smallest, ratio);
      sums.negative -= row.samplingLogprobs[i]!;
      if (isClipped(ratio, row.advantages[i]!)) sums.clipped += 1;
    }
  }
  const n = Math.max(1, sums.tokens);
  const total = output.metrics[sumName];
  const lossMetric = total === undefined || reduction !== "sum" ? {} : { loss: total };
  const base = { ...lossMetric, ...serverMetrics(output.metrics), tokens: sums.tokens };
  if (loss.name === "cross_entropy" || sums.tokens === 0) return base;
  const clips = loss.name === "ppo" || loss.name === "cispo";
  return {
    ...base,
    ...(clips ? { clip_fraction: sums.clipped / n } : {}),
    entropy: sums.negative / n,
    kl_k1: sums.difference / n,
    kl_k3: sums.k3 / n,
    logprob_abs_diff: sums.absolute / n,
    ratio_mean: ratios.sum / n,
    ratio_max: ratios.largest,
    ratio_min: ratios.smallest,
    ratio_ess: ratios.sum ** 2 / (ratios.squares * n),
    chi2: ratios.squares / n - 1,
  };
}

/** What the server adds of its own, as paths; finite numbers only, without its clock. */
export function serverMetrics(metrics: Readonly<Record<string, number>>): Record<string, number> {
  const found = Object.entries(metrics).filter(
    ([name, value]) =>
      name !== sumName && !name.startsWith("clock_cycle") && Number.isFinite(value),
  );
  return Object.fromEntries(
    found.map(([name, value]) => [
      name.endsWith("grad_norm") ? "grad_norm" : `server/${name.replaceAll(":", "/")}`,
      value,
    ]),
  );
}
