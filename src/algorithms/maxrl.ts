/**
 * MaxRL, maximum likelihood reinforcement learning (Tajwar et al. 2026, arXiv:2602.02710): A_i =
 * (r_i - mean(r)) / mean(r) within a group, so that a task counts by 1 / its success rate, as in the
 * likelihood of success. For rewards that are not negative; a group whose mean is 0 or less has the
 * advantage 0, as has a group of one.
 */
import type { AdvantageEstimator } from "./estimator.ts";
import { mean } from "./statistics.ts";

export const maxrl: AdvantageEstimator = (groups) =>
  groups.map((rewards) => {
    const rate = mean(rewards);
    return Float64Array.from(rewards, (reward) => (rate > 0 ? (reward - rate) / rate : 0));
  });
