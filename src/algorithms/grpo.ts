/**
 * GRPO (Shao et al. 2024, arXiv:2402.03300): A_i = (r_i - mean(r)) / (std(r) + 1e-6) within a group,
 * population std. Without `normByStd`: A_i = r_i - mean(r) (Dr. GRPO, arXiv:2503.20783).
 *
 * A group of one has nothing to be compared with, so its advantage is 0. (rLLM gives it its raw
 * reward; `computeAdvantages` counts such groups.)
 */
import type { AdvantageEstimator } from "./estimator.ts";
import { mean, populationStd } from "./statistics.ts";

const epsilon = 1e-6;

export const grpo: AdvantageEstimator = (groups, { normByStd }) =>
  groups.map((rewards) => {
    const baseline = mean(rewards);
    const scale = normByStd ? populationStd(rewards) + epsilon : 1;
    const advantages = new Float64Array(rewards.length);
    for (const [i, reward] of rewards.entries()) advantages[i] = (reward - baseline) / scale;
    return advantages;
  });
