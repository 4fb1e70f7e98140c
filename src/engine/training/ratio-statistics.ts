/** How far the weights being trained have moved from those that sampled, over a batch's trained tokens. */
import type { LossSpec } from "../../core/loss.ts";
import type { ObjectiveSum } from "../loss/objective.ts";
import type { MicroBatch } from "./batch.ts";

/** Metric of each sum that an objective reports: its mean per token. */
const sumMetrics: Readonly<Record<ObjectiveSum, string>> = {
  clipped: "clip_fraction",
  kl: "kl_reference",
  entropy: "policy_entropy",
};

/** Accumulates over micro-batches. KL estimators: http://joschu.net/blog/kl-approx.html */
export class RatioStatistics {
  readonly #loss: LossSpec;
  readonly #sums = new Map<ObjectiveSum, number>();
  #tokens = 0;
  #difference = 0;
  #absolute = 0;
  #k3 = 0;
  #ratio = 0;
  #squaredRatio = 0;
  #largestRatio = 0;
  #smallestRatio = Infinity;
  #negativeLogprob = 0;

  constructor(loss: LossSpec) {
    this.#loss = loss;
  }

  add(
    batch: MicroBatch,
    logprobs: Float32Array,
    sums: Readonly<Partial<Record<ObjectiveSum, number>>>,
  ): void {
    const sampling = batch.lossInputs.sampling_logprobs.data as Float32Array;
    for (let i = 0; i < logprobs.length; i++) {
      const log = logprobs[i]! - sampling[i]!;
      const ratio = Math.exp(log);
      this.#tokens += 1;
      this.#difference -= log;
      this.#absolute += Math.abs(log);
      this.#k3 += ratio - 1 - log;
      this.#ratio += ratio;
      this.#squaredRatio += ratio ** 2;
      this.#largestRatio = Math.max(this.#largestRatio, ratio);
      this.#smallestRatio = Math.min(this.#smallestRatio, ratio);
      this.#negativeLogprob -= sampling[i]!;
    }
    for (const [name, value] of Object.entries(sums) as [ObjectiveSum, number][])
      this.#sums.set(name, (this.#sums.get(name) ?? 0) + value);
  }

  /** Means per token; only those that the loss has, and no ratios for supervised learning. */
  summary(): Record<string, number> {
    const n = Math.max(1, this.#tokens);
    const ofObjective = [...this.#sums].map(([name, value]) => [sumMetrics[name], value / n]);
    const base = { tokens: this.#tokens, ...Object.fromEntries(ofObjective) };
    if (this.#loss.name === "cross_entropy" || this.#tokens === 0) return base;
    return {
      ...base,
      /** Sampled estimate, from the sampling weights. */
      entropy: this.#negativeLogprob / n,
      kl_k1: this.#difference / n,
      kl_k3: this.#k3 / n,
      logprob_abs_diff: this.#absolute / n,
      ratio_mean: this.#ratio / n,
      ratio_max: this.#largestRatio,
      ratio_min: this.#smallestRatio,
      /** Effective sample size, as a share of the tokens. */
      ratio_ess: this.#ratio ** 2 / (this.#squaredRatio * n),
      chi2: this.#squaredRatio / n - 1,
    };
  }
}
