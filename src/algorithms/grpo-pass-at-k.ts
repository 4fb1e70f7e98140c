/**
 * GRPO for pass@k (Tang et al. 2025, arXiv:2503.19595), verl's `grpo_passk`: only the best rollout of a
 * group is credited, with what it is ahead of the second: A = (max - second) / (std + 1e-6). The std is
 * of the population, as in our GRPO, where verl's is unbiased; without `normByStd` the difference alone.
 * All others have 0, as has a group of one. Of equally good ones the first is credited, with 0.
 */
import type { AdvantageEstimator } from "./estimator.ts";
import { populationStd } from "./statistics.ts";

const epsilon = 1e-6;

export const grpoPassAtK: AdvantageEstimator = (groups, { normByStd }) =>
  groups.map((rewards) => {
    const advantages = new Float64Array(rewards.length);
    if (rewards.length < 2) return advantages;
    const best = Math.max(...rewards);
    const at = rewards.indexOf(best);
    const second = Math.max(...rewards.filter((_, i) => i !== at));
    advantages[at] = (best - second) / (normByStd ? populationStd(rewards) + epsilon : 1);
    return advantages;
  });
