/** Optional filters between advantages and rows. Each reports what it dropped. */
import type { TrajectoryGroup } from "../core/trajectory.ts";
import { isUniform } from "./statistics.ts";

export interface FilterResult {
  readonly groups: readonly TrajectoryGroup[];
  readonly dropped: { readonly groups: number; readonly trajectories: number };
  readonly metrics: Readonly<Record<string, number>>;
}

/** Whether the rewards of a group's trajectories differ. */
export const rewardsDiffer = ({ members }: TrajectoryGroup): boolean =>
  !isUniform(members.map(({ reward }) => reward));

/**
 * Drops groups whose rewards are all equal (groups of one among them): under a group baseline
 * every advantage in them is 0. Apply it after the estimate, which may need all rewards of a role. The
 * dynamic sampling of DAPO (Yu et al. 2025, arXiv:2503.14476) without the resampling. Do not use it with
 * `reinforce`, which learns from such groups.
 * @param differs what counts as different. @default their rewards
 */
export function dropUniform(
  groups: readonly TrajectoryGroup[],
  differs: (group: TrajectoryGroup) => boolean = rewardsDiffer,
): FilterResult {
  const kept = groups.filter(differs);
  const count = (list: readonly TrajectoryGroup[]): number =>
    list.reduce((sum, group) => sum + group.members.length, 0);
  const dropped = {
    groups: groups.length - kept.length,
    trajectories: count(groups) - count(kept),
  };
  return {
    groups: kept,
    dropped,
    metrics: {
      "groups/dropped/uniform_groups": dropped.groups,
      "groups/dropped/uniform_trajectories": dropped.trajectories,
    },
  };
}
