/**
 * Metrics of an update, from the log-probabilities that the server returns: the same as those of
 * `local`.
 */
import { clipRatio, ratioOf } from "../../core/loss/log-ratio.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import { RatioMetrics } from "../../core/loss/ratio-metrics.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { ForwardBackwardOutput } from "../../tinker-api/messages.ts";
import type { PreparedBatch } from "./datums.ts";
import type { Reduction } from "./server-traits.ts";

const sumName = "loss:sum";

export function updateMetrics(
  rows: readonly TrainingRow[],
  { rowOf }: PreparedBatch,
  output: ForwardBackwardOutput,
  loss: LossSpec,
  reduction: Reduction,
): Record<string, number> {
  const isClipped = (ratio: number, advantage: number): boolean => {
    const limited = clipRatio(ratio, loss);
    if (loss.name === "ppo") return limited * advantage < ratio * advantage;
    return loss.name === "cispo" && limited !== ratio;
  };
  const ratios = new RatioMetrics();
  let clipped = 0;
  for (const [d, index] of rowOf.entries()) {
    const row = rows[index]!;
    const logprobs = output.outputs[d]?.["logprobs"]?.data ?? [];
    for (let i = 1; i < row.tokens.length; i++) {
      if (row.targetMask[i] !== 1) continue;
      const now = logprobs[i - 1]!;
      const sampled = row.samplingLogprobs[i]!;
      ratios.add(now, sampled);
      if (isClipped(ratioOf(now - sampled), row.advantages[i]!)) clipped += 1;
    }
  }
  const { tokens } = ratios;
  const total = output.metrics[sumName];
  const lossMetric = total === undefined || reduction !== "sum" ? {} : { loss: total };
  const base = { ...lossMetric, ...serverMetrics(output.metrics), tokens };
  if (loss.name === "cross_entropy" || tokens === 0) return base;
  const clips = loss.name === "ppo" || loss.name === "cispo";
  return {
    ...base,
    ...(clips ? { clip_fraction: clipped / tokens } : {}),
    ...ratios.summary(),
  };
}

/** With the rule that a service may add behind a colon. */
const gradNorm = /grad_norm(?::(?:mean|max|sum))?$/u;

/** Additional metrics of the server, as paths; finite numbers only, without those of its clock. */
export function serverMetrics(metrics: Readonly<Record<string, number>>): Record<string, number> {
  const found = Object.entries(metrics).filter(
    ([name, value]) =>
      name !== sumName && !name.startsWith("clock_cycle") && Number.isFinite(value),
  );
  return Object.fromEntries(
    found.map(([name, value]) => [
      gradNorm.test(name) ? "grad_norm" : `server/${name.replaceAll(":", "/")}`,
      value,
    ]),
  );
}
