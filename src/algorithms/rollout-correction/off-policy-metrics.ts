/**
 * How far the policy being trained is from the one that sampled, over the trained tokens of a batch. With
 * o the trainer's log-probability, s that of the sampler, x = o - s and means over tokens unless stated
 * otherwise:
 *
 * - `kl_k1` = mean(-x), `kl_k3` = mean(exp(x) - x - 1): estimates of KL(sampler, trainer)
 * - `training_ppl` = mean over rows of exp(-mean o), `rollout_ppl` likewise, `..._log_ppl` without exp
 * - `log_ppl_diff` = mean over rows of (mean s - mean o), `ppl_ratio` = mean over rows of its exp
 * - `ratio_...` of exp(x); `chi2` = mean(ratio^2) - 1; `chi2_seq` = mean over rows of exp(2 sum x) - 1
 * - `ess_fraction` = (mean ratio)^2 / mean(ratio^2)
 */
import { limitLogRatio, ratioOf } from "../../core/loss/log-ratio.ts";
import { mean } from "../statistics.ts";
import { sumOf, type TokenValues } from "./log-ratios.ts";

/** Running mean, minimum and maximum of values that are never stored together. */
class Range {
  #sum = 0;
  #count = 0;
  min = Infinity;
  max = -Infinity;

  add(value: number): void {
    this.#sum += value;
    this.#count++;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
  }

  get mean(): number {
    return this.#sum / this.#count;
  }

  named(name: string): Record<string, number> {
    return { [`${name}_mean`]: this.mean, [`${name}_max`]: this.max, [`${name}_min`]: this.min };
  }
}

/** `off_policy/...`; empty without a trained token. */
export function offPolicyMetrics(old: TokenValues, rollout: TokenValues): Record<string, number> {
  const ranges = { ratio: new Range(), logprob: new Range(), prob: new Range() };
  const sums = { k1: 0, k3: 0, square: 0 };
  let tokens = 0;
  const rows = { training: [] as number[], rollout: [] as number[], chi2: [] as number[] };
  for (const [r, olds] of old.entries()) {
    const sampled = rollout[r] as Float64Array;
    if (olds.length === 0) continue;
    let total = 0;
    for (const [i, o] of olds.entries()) {
      const s = sampled[i] as number;
      const ratio = ratioOf(o - s);
      tokens++;
      total += o - s;
      sums.k1 -= o - s;
      sums.k3 += ratio - (o - s) - 1;
      sums.square += ratio ** 2;
      ranges.ratio.add(ratio);
      ranges.logprob.add(Math.abs(o - s));
      ranges.prob.add(Math.abs(Math.exp(o) - Math.exp(s)));
    }
    rows.training.push(-sumOf(olds) / olds.length);
    rows.rollout.push(-sumOf(sampled) / olds.length);
    rows.chi2.push(Math.exp(2 * limitLogRatio(total)));
  }
  if (tokens === 0) return {};
  const differences = rows.training.map((value, i) => value - (rows.rollout[i] as number));
  const expMean = (values: readonly number[]): number => mean(values.map(ratioOf));
  const spread = new Range();
  for (const difference of differences) spread.add(difference);
  const named: Record<string, number> = {
    kl_k1: sums.k1 / tokens,
    kl_k3: sums.k3 / tokens,
    ...ranges.logprob.named("logprob_abs_diff"),
    ...ranges.prob.named("prob_abs_diff"),
    training_ppl: expMean(rows.training),
    training_log_ppl: mean(rows.training),
    rollout_ppl: expMean(rows.rollout),
    rollout_log_ppl: mean(rows.rollout),
    log_ppl_diff: spread.mean,
    log_ppl_abs_diff: mean(differences.map(Math.abs)),
    log_ppl_diff_max: spread.max,
    log_ppl_diff_min: spread.min,
    ppl_ratio: expMean(differences),
    ...ranges.ratio.named("ratio"),
    chi2: sums.square / tokens - 1,
    chi2_seq: mean(rows.chi2) - 1,
    ess_fraction: ranges.ratio.mean ** 2 / (sums.square / tokens),
  };
  return Object.fromEntries(
    Object.entries(named).map(([name, value]) => [`off_policy/${name}`, value]),
  );
}
