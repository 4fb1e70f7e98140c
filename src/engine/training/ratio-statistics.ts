/** How far the weights being trained have moved from those that sampled, over a batch's trained tokens. */
import type { LossSpec } from "../../core/loss.ts";
import type { MicroBatch } from "./batch.ts";

/** Accumulates over micro-batches. KL estimators: http://joschu.net/blog/kl-approx.html */
export class RatioStatistics {
  readonly #loss: LossSpec;
  #tokens = 0;
  #difference = 0;
  #absolute = 0;
  #k3 = 0;
  #ratio = 0;
  #clipped = 0;
  #negativeLogprob = 0;

  constructor(loss: LossSpec) {
    this.#loss = loss;
  }

  add(batch: MicroBatch, logprobs: Float32Array): void {
    const sampling = batch.inputs.sampling_logprobs.data as Float32Array;
    const advantages = batch.inputs.advantages.data as Float32Array;
    for (let i = 0; i < logprobs.length; i++) {
      const log = logprobs[i]! - sampling[i]!;
      const ratio = Math.exp(log);
      this.#tokens += 1;
      this.#difference -= log;
      this.#absolute += Math.abs(log);
      this.#k3 += ratio - 1 - log;
      this.#ratio += ratio;
      this.#negativeLogprob -= sampling[i]!;
      const tooHigh = advantages[i]! > 0 && ratio > 1 + this.#loss.clipHigh;
      const tooLow = advantages[i]! < 0 && ratio < 1 - this.#loss.clipLow;
      if (tooHigh || tooLow) this.#clipped += 1;
    }
  }

  /** Means per token; `clip_fraction` only for losses that clip, nothing but `tokens` for supervised ones. */
  summary(): Record<string, number> {
    const n = Math.max(1, this.#tokens);
    if (this.#loss.name === "cross_entropy") return { tokens: this.#tokens };
    return {
      tokens: this.#tokens,
      /** Sampled estimate, from the sampling weights. */
      entropy: this.#negativeLogprob / n,
      kl_k1: this.#difference / n,
      kl_k3: this.#k3 / n,
      logprob_abs_diff: this.#absolute / n,
      ratio_mean: this.#ratio / n,
      ...(this.#loss.name === "ppo" ? { clip_fraction: this.#clipped / n } : {}),
    };
  }
}
