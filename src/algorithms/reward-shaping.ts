/** Groups with shaped rewards. The evaluators' rewards stay in the episodes. */
import type { GroupMember, TrajectoryGroup } from "../core/trajectory.ts";

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
export function maxResponseBytes({ trajectory }: GroupMember): number {
  return trajectory.steps.reduce((most, { responseIds }) => Math.max(most, responseIds.length), 0);
}
