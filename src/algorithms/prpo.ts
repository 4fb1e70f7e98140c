/**
 * PRPO, as rLLM names it: one baseline and one scale for all rewards of the role, whatever their task.
 * A_i = (r_i - mean(all r)) / (std(all r) + 1e-6), population std. Tasks are not compared with
 * themselves, so an easy task pushes all of its rollouts up.
 */
import type { AdvantageEstimator } from "./estimator.ts";
import { mean, populationStd } from "./statistics.ts";

const epsilon = 1e-6;

export const prpo: AdvantageEstimator = (groups) => {
  const all = groups.flat();
  const baseline = mean(all);
  const scale = populationStd(all) + epsilon;
  return groups.map((rewards) =>
    Float64Array.from(rewards, (reward) => (reward - baseline) / scale),
  );
};
