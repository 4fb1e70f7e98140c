/**
 * REINFORCE leave-one-out (Ahmadian et al. 2024, arXiv:2402.14740): A_i = r_i - mean of the others
 * = n / (n - 1) * (r_i - mean(r)).
 *
 * A group of one has no others, so its advantage is 0. (rLLM gives it its raw reward.)
 */
import type { AdvantageEstimator } from "./estimator.ts";
import { mean } from "./statistics.ts";

export const rloo: AdvantageEstimator = (groups) =>
  groups.map((rewards) => {
    const n = rewards.length;
    const baseline = mean(rewards);
    const scale = n > 1 ? n / (n - 1) : 0;
    return Float64Array.from(rewards, (reward) => scale * (reward - baseline));
  });
