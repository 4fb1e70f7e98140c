/**
 * Advantage estimators: formula, paper, code, to be compared by eye. `r_i` is the reward of member i of a
 * group, `A_i` its advantage; a role's groups come together. `catalog.ts` finds them by name.
 */
import type { TerminationReason } from "../core/trajectory.ts";
import { signalColumns } from "./signals.ts";
import { mean, populationStd, unbiasedStd, weightedMean } from "./statistics.ts";

/** How a rollout came out, in addition to its reward. */
export interface RolloutOutcome {
  /** null = not reported. */
  readonly isCorrect: boolean | null;
  readonly terminationReason: TerminationReason;
  /** A token limit cut one of its responses off. */
  readonly isTruncated: boolean;
}

/** What an advantage estimator may know of a group's rollouts besides their rewards, and of the run. */
export interface EstimatorOptions {
  /** `grpo`, `grpo_passk`: divide by the group's standard deviation. Others do not read it. @default true */
  readonly normByStd: boolean;
  /** [group][member] sampled tokens of each rollout, at least 1; `opo` and `reinforce_plus_plus` read it. */
  readonly lengths: readonly (readonly number[])[];
  /** [group][member] the signals of each rollout by name; `gdpo` reads them. */
  readonly signals: readonly (readonly Readonly<Record<string, number>>[])[];
  /** [group][member] */
  readonly outcomes: readonly (readonly RolloutOutcome[])[];
  /** `gdpo`: weights by signal. Empty for all signals there are, each with the weight 1. */
  readonly weights: ReadonlyMap<string, number>;
}

/**
 * `groups[g][i]` is the reward of member i of group g; all groups are of one role. Returns the same
 * shape. Pure: same rewards, same advantages.
 */
export type AdvantageEstimator = (
  groups: readonly (readonly number[])[],
  options: EstimatorOptions,
) => readonly Float64Array[];

/** Added to standard deviations, as in verl. */
const stdEpsilon = 1e-6;
/** Added to a variance, as in verl. */
const varianceEpsilon = 1e-8;

/** REINFORCE without a baseline (Williams 1992): A_i = r_i, also in a group of one. */
export const reinforce: AdvantageEstimator = (groups) =>
  groups.map((rewards) => Float64Array.from(rewards));

/**
 * GRPO (Shao et al. 2024, arXiv:2402.03300): A_i = (r_i - mean(r)) / (std(r) + 1e-6) within a group,
 * population std. Without `normByStd`: A_i = r_i - mean(r) (Dr. GRPO, arXiv:2503.20783).
 *
 * A group of one has nothing to be compared with, so its advantage is 0. (rLLM gives it its raw
 * reward; `computeAdvantages` counts such groups.)
 */
export const grpo: AdvantageEstimator = (groups, { normByStd }) =>
  groups.map((rewards) => {
    const baseline = mean(rewards);
    const scale = normByStd ? populationStd(rewards) + stdEpsilon : 1;
    const advantages = new Float64Array(rewards.length);
    for (const [i, reward] of rewards.entries()) advantages[i] = (reward - baseline) / scale;
    return advantages;
  });

/**
 * REINFORCE leave-one-out (Ahmadian et al. 2024, arXiv:2402.14740): A_i = r_i - mean of the others
 * = n / (n - 1) * (r_i - mean(r)).
 *
 * A group of one has no others, so its advantage is 0. (rLLM gives it its raw reward.)
 */
export const rloo: AdvantageEstimator = (groups) =>
  groups.map((rewards) => {
    const n = rewards.length;
    const baseline = mean(rewards);
    const scale = n > 1 ? n / (n - 1) : 0;
    return Float64Array.from(rewards, (reward) => scale * (reward - baseline));
  });

/**
 * REINFORCE++ (Hu et al. 2025, arXiv:2501.03262), without discount: every token of a response gets its
 * reward, and these are whitened over all tokens of the role: A_i = (r_i - mean) / sqrt(var + 1e-8), mean
 * and unbiased variance weighted by the lengths of responses. With a single token there is no variance,
 * and the advantage is 0.
 */
export const reinforcePlusPlus: AdvantageEstimator = (groups, { lengths }) => {
  const rewards = groups.flat();
  const tokens = lengths.flat();
  const count = tokens.reduce((sum, length) => sum + length, 0);
  const baseline = weightedMean(rewards, tokens);
  const squares = rewards.reduce(
    (sum, reward, i) => sum + (tokens[i] ?? 0) * (reward - baseline) ** 2,
    0,
  );
  const scale = count > 1 ? 1 / Math.sqrt(squares / (count - 1) + varianceEpsilon) : 0;
  return groups.map((group) => Float64Array.from(group, (reward) => (reward - baseline) * scale));
};

/**
 * REINFORCE++ with baseline (Hu et al. 2025, arXiv:2501.03262): center each reward by the mean of its
 * own group, then divide by (population std of all centered rewards of the role + 1e-6).
 */
export const reinforcePlusPlusBaseline: AdvantageEstimator = (groups) => {
  const centred = groups.map((rewards) => {
    const baseline = mean(rewards);
    return Float64Array.from(rewards, (reward) => reward - baseline);
  });
  const scale = populationStd(centred.flatMap((values) => Array.from(values))) + stdEpsilon;
  return centred.map((values) => values.map((value) => value / scale));
};

/**
 * PRPO, as rLLM names it: one baseline and one scale for all rewards of the role, whatever their task.
 * A_i = (r_i - mean(all r)) / (std(all r) + 1e-6), population std. There is no baseline per
 * task, so an easy task pushes all of its rollouts up.
 */
export const prpo: AdvantageEstimator = (groups) => {
  const all = groups.flat();
  const baseline = mean(all);
  const scale = populationStd(all) + stdEpsilon;
  return groups.map((rewards) =>
    Float64Array.from(rewards, (reward) => (reward - baseline) / scale),
  );
};

/**
 * OPO, on-policy RL with the optimal reward baseline (Hao et al. 2025, arXiv:2505.23585): the baseline
 * that minimizes the variance of the gradient, when its norm grows with the length of a response.
 * A_i = r_i - sum(len r) / sum(len) within a group. A group of one has the advantage 0.
 */
export const opo: AdvantageEstimator = (groups, { lengths }) =>
  groups.map((rewards, g) => {
    const baseline = weightedMean(rewards, lengths[g] ?? []);
    return Float64Array.from(rewards, (reward) => reward - baseline);
  });

/**
 * GPG, group policy gradient (Chu et al. 2025, arXiv:2504.02546): A_i = alpha (r_i - mean(r)) within a
 * group, with alpha = B / max(1, rewards that are not 0) over all B rollouts of the role, which makes up
 * for rollouts without a signal. A group of one has the advantage 0.
 */
export const gpg: AdvantageEstimator = (groups) => {
  const all = groups.flat();
  const alpha = all.length / Math.max(1, all.filter((reward) => reward !== 0).length);
  return groups.map((rewards) => {
    const baseline = mean(rewards);
    return Float64Array.from(rewards, (reward) => alpha * (reward - baseline));
  });
};

/**
 * MaxRL, maximum likelihood reinforcement learning (Tajwar et al. 2026, arXiv:2602.02710): A_i =
 * (r_i - mean(r)) / mean(r) within a group, so that a task counts by 1 / its success rate, as in the
 * likelihood of success. For rewards that are not negative; a group whose mean is 0 or less has the
 * advantage 0, as has a group of one.
 */
export const maxrl: AdvantageEstimator = (groups) =>
  groups.map((rewards) => {
    const rate = mean(rewards);
    return Float64Array.from(rewards, (reward) => (rate > 0 ? (reward - rate) / rate : 0));
  });

/**
 * GRPO for pass@k (Tang et al. 2025, arXiv:2503.19595), verl's `grpo_passk`: only the best rollout of a
 * group is credited, with its margin over the second: A = (max - second) / (std + 1e-6). The std is
 * of the population, as in our GRPO, where verl's is unbiased; without `normByStd` the difference only.
 * All others have 0, as has a group of one. Of equally good ones the first is credited, with 0.
 */
export const grpoPassAtK: AdvantageEstimator = (groups, { normByStd }) =>
  groups.map((rewards) => {
    const advantages = new Float64Array(rewards.length);
    if (rewards.length < 2) return advantages;
    const best = Math.max(...rewards);
    const at = rewards.indexOf(best);
    const second = Math.max(...rewards.filter((_, i) => i !== at));
    advantages[at] = (best - second) / (normByStd ? populationStd(rewards) + stdEpsilon : 1);
    return advantages;
  });

/** Added to standard deviations in `gdpo`, as in TRL. */
const gdpoEpsilon = 1e-4;

/**
 * GDPO, group reward-decoupled normalization (Liu et al. 2026, arXiv:2601.05242), with TRL's numbers: each
 * signal k is normalized within its group, z_ik = (s_ik - mean_k) / (std_k + 1e-4), and the sums
 * S_i = sum of w_k z_ik over the role: A_i = (S_i - mean S) / (std S + 1e-4), all std unbiased. The sum of
 * signals, which GRPO normalizes, is the same for rollouts that differ in what they are good at.
 *
 * `reward` names the reward. A signal that a rollout lacks is left out of its sum. A rollout without any, such as
 * one whose agent failed, is compared by its reward, with the sum of the weights. A group of one has the advantage 0.
 */
export const gdpo: AdvantageEstimator = (groups, { signals, weights }) => {
  const columns = signalColumns(groups, signals, weights);
  const sums = groups.map((rewards, g) => {
    const terms = columns.map(({ weight, values }) => normalized(values[g] ?? [], weight));
    const total = columns.reduce((sum, { weight }) => sum + weight, 0);
    const byReward = normalized(rewards, total);
    return Float64Array.from(rewards, (_, i) => {
      const own = terms.flatMap((column) => column[i] ?? []);
      return own.length === 0 ? (byReward[i] ?? 0) : own.reduce((sum, term) => sum + term, 0);
    });
  });
  const all = sums.flatMap((group) => (group.length > 1 ? [...group] : []));
  const baseline = mean(all);
  const scale = unbiasedStd(all) + gdpoEpsilon;
  return sums.map((group) => group.map((sum) => (group.length > 1 ? (sum - baseline) / scale : 0)));
};

/** [member] weight (s - mean) / (std + epsilon) over the values that there are; none for fewer than two. */
function normalized(
  values: readonly (number | undefined)[],
  weight: number,
): readonly (number | undefined)[] {
  const given = values.filter((value) => value !== undefined);
  if (given.length < 2) return values.map(() => undefined);
  const [center, scale] = [mean(given), unbiasedStd(given) + gdpoEpsilon];
  return values.map((value) =>
    value === undefined ? undefined : (weight * (value - center)) / scale,
  );
}
