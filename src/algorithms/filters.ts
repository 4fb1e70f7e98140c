/** Optional filters between advantages and rows. Each reports what it dropped. */
import type { TrajectoryGroup } from "../core/trajectory.ts";
import { isUniform } from "./statistics.ts";

export interface FilterResult {
  readonly groups: readonly TrajectoryGroup[];
  readonly dropped: { readonly groups: number; readonly trajectories: number };
  readonly metrics: Readonly<Record<string, number>>;
}

/**
 * Drops groups whose rewards are all equal (groups of one among them): under a group baseline
 * every advantage in them is 0. Apply it after the estimate, which may need all rewards of a role. The
 * dynamic sampling of DAPO (Yu et al. 2025, arXiv:2503.14476) without the resampling. Do not use it with
 * `reinforce`, which learns from such groups.
 */
export function dropUniform(groups: readonly TrajectoryGroup[]): FilterResult {
  const kept = groups.filter((group) => !isUniform(group.members.map((member) => member.reward)));
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
