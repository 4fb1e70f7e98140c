/** What an update reports about a batch's trained tokens in addition to its loss. */
import type { LossSpec } from "../../core/loss/loss.ts";
import { RatioMetrics } from "../../core/loss/ratio-metrics.ts";
import type { ObjectiveSum } from "../loss/objective.ts";
import type { MicroBatch } from "./batch.ts";

/** The metric for each sum that an objective reports: its mean per token. */
const sumMetrics: Readonly<Record<ObjectiveSum, string>> = {
  clipped: "clip_fraction",
  kl: "kl_reference",
  entropy: "entropy",
};

/** Accumulates over micro-batches. */
export class RatioStatistics {
  readonly #loss: LossSpec;
  readonly #sums = new Map<ObjectiveSum, number>();
  readonly #ratios = new RatioMetrics();

  constructor(loss: LossSpec) {
    this.#loss = loss;
  }

  add(
    batch: MicroBatch,
    logprobs: Float32Array,
    sums: Readonly<Partial<Record<ObjectiveSum, number>>>,
  ): void {
    const sampling = batch.lossInputs.sampling_logprobs.data as Float32Array;
    for (const [i, logprob] of logprobs.entries()) this.#ratios.add(logprob, sampling[i]!);
    for (const [name, value] of Object.entries(sums) as [ObjectiveSum, number][])
      this.#sums.set(name, (this.#sums.get(name) ?? 0) + value);
  }

  /** Means per token; only those that the loss has, and no ratios for supervised learning. */
  summary(): Record<string, number> {
    const { tokens } = this.#ratios;
    const ofObjective = [...this.#sums].map(([name, value]) => [
      sumMetrics[name],
      value / Math.max(1, tokens),
    ]);
    const ratios = this.#loss.name === "cross_entropy" ? {} : this.#ratios.summary();
    return { tokens, ...Object.fromEntries(ofObjective), ...ratios };
  }
}
