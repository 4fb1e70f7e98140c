/**
 * GPG, group policy gradient (Chu et al. 2025, arXiv:2504.02546): A_i = alpha (r_i - mean(r)) within a
 * group, with alpha = B / max(1, rewards that are not 0) over all B rollouts of the role, which makes up
 * for rollouts without a signal. A group of one has the advantage 0.
 */
import type { AdvantageEstimator } from "./estimator.ts";
import { mean } from "./statistics.ts";

export const gpg: AdvantageEstimator = (groups) => {
  const all = groups.flat();
  const alpha = all.length / Math.max(1, all.filter((reward) => reward !== 0).length);
  return groups.map((rewards) => {
    const baseline = mean(rewards);
    return Float64Array.from(rewards, (reward) => alpha * (reward - baseline));
  });
};
