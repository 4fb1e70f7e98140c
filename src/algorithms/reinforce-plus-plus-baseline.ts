/**
 * REINFORCE++ with baseline (Hu et al. 2025, arXiv:2501.03262): centre each reward by the mean of its
 * own group, then divide by (population std of all centred rewards of the role + 1e-6).
 */
import type { AdvantageEstimator } from "./estimator.ts";
import { mean, populationStd } from "./statistics.ts";

const epsilon = 1e-6;

export const reinforcePlusPlusBaseline: AdvantageEstimator = (groups) => {
  const centred = groups.map((rewards) => {
    const baseline = mean(rewards);
    return Float64Array.from(rewards, (reward) => reward - baseline);
  });
  const scale = populationStd(centred.flatMap((values) => Array.from(values))) + epsilon;
  return centred.map((values) => values.map((value) => value / scale));
};
