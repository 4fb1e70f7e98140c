/** REINFORCE without a baseline (Williams 1992): A_i = r_i, also in a group of one. */
import type { AdvantageEstimator } from "./estimator.ts";

export const reinforce: AdvantageEstimator = (groups) =>
  groups.map((rewards) => Float64Array.from(rewards));
