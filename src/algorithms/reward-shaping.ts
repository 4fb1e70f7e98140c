/** What is added to rewards before advantages. The evaluators' rewards stay in the episodes. */
import { penaltyOfKl } from "../core/loss/kl.ts";
import type { KlEstimator } from "../core/loss/loss.ts";
import type { TrainingRow } from "../core/loss/training-row.ts";
import type { GroupMember, TrajectoryGroup } from "../core/trajectory.ts";

export interface OverlongOptions {
  /** L, in tokens. */
  readonly maxLength: number;
  /** c, in tokens; above 0. */
  readonly margin: number;
  readonly factor: number;
}

/**
 * Soft overlong penalty of DAPO (Yu et al. 2025, arXiv:2503.14476, section 3.4), which is added to the
 * reward. With n the length of a response, L its maximum and c a margin before that:
 *
 *   0 for n <= L - c,  factor ((L - c) - n) / c up to n = L,  -factor beyond
 */
export function overlongPenalty(
  length: number,
  { maxLength, margin, factor }: OverlongOptions,
): number {
  const over = length - (maxLength - margin);
  return over <= 0 ? 0 : -factor * Math.min(1, over / margin);
}

export interface KlPenalty {
  /** [row][length] of each trained token; 0 elsewhere. */
  readonly estimates: readonly Float64Array[];
  /** Mean over rows of the mean over their trained tokens, as verl reports it. */
  readonly mean: number;
}

/**
 * KL in the reward (Ziegler et al. 2019, arXiv:1909.08593): R_i' = R_i - coef * sum over the trajectory's
 * sampled tokens of an estimate of KL(policy, reference); the estimators are in `core/kl.ts`.
 *
 * @param policy, reference [row][length] log-probabilities
 */
export function klPenalty(
  rows: readonly TrainingRow[],
  policy: readonly Float32Array[],
  reference: readonly Float32Array[],
  estimator: KlEstimator,
): KlPenalty {
  let total = 0;
  const estimates = rows.map(({ targetMask }, r) => {
    const ofRow = new Float64Array(targetMask.length);
    let sum = 0;
    let tokens = 0;
    for (let i = 1; i < targetMask.length; i++) {
      if (targetMask[i] !== 1) continue;
      tokens++;
      const difference = (policy[r]?.[i] ?? 0) - (reference[r]?.[i] ?? 0);
      ofRow[i] = penaltyOfKl(estimator, difference).value;
      sum += ofRow[i] as number;
    }
    total += sum / Math.max(1, tokens);
    return ofRow;
  });
  return { estimates, mean: total / Math.max(1, rows.length) };
}

/** The same groups, each reward replaced by what `reward` says. */
export function withRewards(
  groups: readonly TrajectoryGroup[],
  reward: (member: GroupMember) => number,
): readonly TrajectoryGroup[] {
  return groups.map((group) => ({
    ...group,
    members: group.members.map((member) => ({ ...member, reward: reward(member) })),
  }));
}

/** The same groups, with `shaping` added to what is added to the reward of each step. */
export function withStepShaping(
  groups: readonly TrajectoryGroup[],
  shaping: (member: GroupMember) => readonly number[],
): readonly TrajectoryGroup[] {
  return groups.map((group) => ({
    ...group,
    members: group.members.map((member) => ({
      ...member,
      stepShaping: Float64Array.from(
        shaping(member),
        (value, step) => value + (member.stepShaping?.[step] ?? 0),
      ),
    })),
  }));
}

/** Tokens of the longest single completion. */
export function maxResponseLength({ trajectory }: GroupMember): number {
  return trajectory.steps.reduce((most, { trace }) => Math.max(most, trace.responseIds.length), 0);
}
