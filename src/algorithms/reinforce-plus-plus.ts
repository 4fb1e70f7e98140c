/**
 * REINFORCE++ (Hu et al. 2025, arXiv:2501.03262), without discount: every token of an answer gets its
 * reward, and these are whitened over all tokens of the role: A_i = (r_i - mean) / sqrt(var + 1e-8), mean
 * and unbiased variance weighted by the lengths of answers. With a single token there is no variance,
 * and the advantage is 0.
 */
import type { AdvantageEstimator } from "./estimator.ts";
import { weightedMean } from "./statistics.ts";

const epsilon = 1e-8;

export const reinforcePlusPlus: AdvantageEstimator = (groups, { lengths }) => {
  const rewards = groups.flat();
  const tokens = lengths.flat();
  const count = tokens.reduce((sum, length) => sum + length, 0);
  const baseline = weightedMean(rewards, tokens);
  const squares = rewards.reduce(
    (sum, reward, i) => sum + (tokens[i] ?? 0) * (reward - baseline) ** 2,
    0,
  );
  const scale = count > 1 ? 1 / Math.sqrt(squares / (count - 1) + epsilon) : 0;
  return groups.map((group) => Float64Array.from(group, (reward) => (reward - baseline) * scale));
};
