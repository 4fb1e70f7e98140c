/** What an update reports, over micro-batches: means per token. */
import type { LossSpec } from "../../core/loss/loss.ts";
import { RatioMetrics } from "../../core/loss/ratio-metrics.ts";
import type { ObjectiveValue } from "./objective.ts";

export class UpdateStatistics {
  readonly #isSupervised: boolean;
  readonly #ratios = new RatioMetrics();
  readonly #sums = { clip_fraction: 0, kl_reference: 0, entropy: 0 };
  readonly #measured = new Set<keyof UpdateStatistics["sums"]>();
  readonly #observed = { tokens: 0, nats: 0 };
  loss = 0;

  constructor({ name }: LossSpec) {
    this.#isSupervised = name === "cross_entropy";
  }

  get sums(): Readonly<Record<"clip_fraction" | "kl_reference" | "entropy", number>> {
    return this.#sums;
  }

  add(value: ObjectiveValue, logprobs: Float64Array, sampling: Float64Array): void {
    this.loss += value.loss;
    for (const [i, logprob] of logprobs.entries()) this.#ratios.add(logprob, sampling[i]!);
    const { clipped: clip_fraction, kl: kl_reference, entropy } = value;
    for (const [name, sum] of Object.entries({ clip_fraction, kl_reference, entropy })) {
      if (sum === null) continue;
      const key = name as keyof UpdateStatistics["sums"];
      this.#sums[key] += sum;
      this.#measured.add(key);
    }
  }

  /** A token of the environment. @param weight over their number */
  observe(weight: number, logprob: number): void {
    this.loss -= weight * logprob;
    this.#observed.tokens++;
    this.#observed.nats -= logprob;
  }

  summary(): Record<string, number> {
    const { tokens } = this.#ratios;
    const seen = this.#observed;
    const observations =
      seen.tokens === 0
        ? {}
        : { observation_loss: seen.nats / seen.tokens, observation_tokens: seen.tokens };
    const means = [...this.#measured].map((name) => [name, this.#sums[name] / Math.max(1, tokens)]);
    const ratios = this.#isSupervised ? {} : this.#ratios.summary();
    return { loss: this.loss, tokens, ...Object.fromEntries(means), ...ratios, ...observations };
  }
}
