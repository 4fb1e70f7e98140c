/**
 * OPO, on-policy RL with the optimal reward baseline (Hao et al. 2025, arXiv:2505.23585): the baseline
 * that minimises the variance of the gradient, when its norm grows with the length of an answer.
 * A_i = r_i - sum(len r) / sum(len) within a group. A group of one has the advantage 0.
 */
import type { AdvantageEstimator } from "./estimator.ts";
import { weightedMean } from "./statistics.ts";

export const opo: AdvantageEstimator = (groups, { lengths }) =>
  groups.map((rewards, g) => {
    const baseline = weightedMean(rewards, lengths[g] ?? []);
    return Float64Array.from(rewards, (reward) => reward - baseline);
  });
