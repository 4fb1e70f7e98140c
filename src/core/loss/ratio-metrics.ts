/** How far the weights being trained have moved from those that sampled, over trained tokens. */
import { estimateKl } from "./kl.ts";
import { limitLogRatio, ratioOf } from "./log-ratio.ts";

export class RatioMetrics {
  #tokens = 0;
  #difference = 0;
  #absolute = 0;
  #k3 = 0;
  #ratio = 0;
  #squaredRatio = 0;
  #maxRatio = 0;
  #minRatio = Infinity;
  #negativeLogprob = 0;

  get tokens(): number {
    return this.#tokens;
  }

  /** One trained token: its log-probability now, and when it was sampled. */
  add(now: number, sampled: number): void {
    const log = now - sampled;
    const ratio = ratioOf(log);
    this.#tokens += 1;
    // Tokens are those of the sampling weights, so the divergence is KL(sampling, now).
    this.#difference += estimateKl("k1", -log);
    this.#absolute += Math.abs(log);
    this.#k3 += estimateKl("k3", -limitLogRatio(log));
    this.#ratio += ratio;
    this.#squaredRatio += ratio ** 2;
    this.#maxRatio = Math.max(this.#maxRatio, ratio);
    this.#minRatio = Math.min(this.#minRatio, ratio);
    this.#negativeLogprob -= sampled;
  }

  /** Means per token, and extremes; nothing without tokens. */
  summary(): Record<string, number> {
    const n = this.#tokens;
    if (n === 0) return {};
    return {
      /** Mean of -logprob of the sampled tokens, under the weights that sampled. */
      sampled_nll: this.#negativeLogprob / n,
      kl_k1: this.#difference / n,
      kl_k3: this.#k3 / n,
      logprob_abs_diff_mean: this.#absolute / n,
      ratio_mean: this.#ratio / n,
      ratio_max: this.#maxRatio,
      ratio_min: this.#minRatio,
      /** Effective sample size, as a fraction of the tokens. */
      ess_fraction: this.#ratio ** 2 / (this.#squaredRatio * n),
      chi2: this.#squaredRatio / n - 1,
    };
  }
}
