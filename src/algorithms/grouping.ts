/**
 * Rollouts to groups: the trajectories of one role at one task, which are compared with each other.
 * What cannot be compared or trained on is dropped and counted by reason, as are groups that teach
 * nothing; nothing here throws, so one bad rollout cannot end a run.
 */
import { isCutOff, isFailed, isScored } from "../core/outcome.ts";
import type {
  Episode,
  GroupMember,
  TerminationReason,
  Trajectory,
  TrajectoryGroup,
} from "../core/trajectory.ts";
import { addTo } from "../util/group-by.ts";
import { isUniform, mean } from "./statistics.ts";
import { stepDropReason } from "./rows/trainable-step.ts";

export interface GroupingOptions {
  /**
   * Episodes with these terminations are dropped, in addition to those that were cut off, or failed
   * without a score.
   * @default none
   */
  readonly excludedReasons?: readonly TerminationReason[];
}

/** Rollouts that are compared with each other: those of one task in one batch. */
export interface ComparedRollouts {
  readonly episodes: readonly Episode[];
}

interface GroupingDrops {
  /** Episodes dropped because of how they ended. */
  readonly excluded_episodes: number;
  /** Trajectories without a single step that can be trained on. */
  readonly no_trainable_steps: number;
  /** Trajectories that the agent or the run excludes from training. */
  readonly untrained: number;
  readonly no_reward: number;
  /** Rewards that are NaN or infinite. */
  readonly invalid_reward: number;
}

export interface GroupingResult {
  /** By task, then in order of first appearance; members in the order of the episodes. */
  readonly groups: readonly TrajectoryGroup[];
  /** `groups/...` */
  readonly metrics: Readonly<Record<string, number>>;
  readonly dropped: GroupingDrops;
}

/** There is nothing to compare: it was cut off, or failed without a score. */
const isUnusable = (episode: Episode): boolean =>
  isCutOff(episode) || (isFailed(episode) && !isScored(episode));

type TrajectoryDrop = Exclude<keyof GroupingDrops, "excluded_episodes">;

function toMember(episode: Episode, trajectory: Trajectory): GroupMember | TrajectoryDrop {
  const { reward, steps } = trajectory;
  if (trajectory.untrained !== undefined) return "untrained";
  if (!steps.some((step) => stepDropReason(step) === null)) return "no_trainable_steps";
  if (reward === null) return "no_reward";
  if (!Number.isFinite(reward)) return "invalid_reward";
  return { trajectory, episode, reward };
}

/**
 * Groups the trajectories of each task by their names. Tasks are never matched by their ids: a task
 * that was rolled out in two batches gives two groups.
 */
export function groupTrajectories(
  tasks: readonly ComparedRollouts[],
  options: GroupingOptions = {},
): GroupingResult {
  const excluded = new Set(options.excludedReasons);
  const dropped = {
    excluded_episodes: 0,
    no_trainable_steps: 0,
    untrained: 0,
    no_reward: 0,
    invalid_reward: 0,
  };
  const groups: TrajectoryGroup[] = [];
  let seen = 0;

  for (const { episodes } of tasks) {
    const byName = new Map<string, GroupMember[]>();
    for (const episode of episodes) {
      seen += episode.trajectories.length;
      if (isUnusable(episode) || excluded.has(episode.terminationReason)) {
        dropped.excluded_episodes++;
        continue;
      }
      for (const trajectory of episode.trajectories) {
        const member = toMember(episode, trajectory);
        if (typeof member === "string") dropped[member]++;
        else addTo(byName, trajectory.name, member);
      }
    }
    const taskId = episodes[0]?.task.id ?? "";
    for (const [name, members] of byName) {
      groups.push({ id: `${taskId}:${name}`, taskId, name, members });
    }
  }
  return { groups, metrics: groupMetrics(groups, seen, dropped), dropped };
}

function groupMetrics(
  groups: readonly TrajectoryGroup[],
  seen: number,
  dropped: GroupingDrops,
): Record<string, number> {
  const sizes = groups.map((group) => group.members.length);
  return {
    "groups/count": groups.length,
    "groups/trajectories_before": seen,
    "groups/trajectories_after": sizes.reduce((sum, size) => sum + size, 0),
    "groups/size/mean": mean(sizes),
    "groups/size/max": sizes.reduce((max, size) => Math.max(max, size), 0),
    "groups/size/min": sizes.reduce((min, size) => Math.min(min, size), sizes[0] ?? 0),
    "groups/dropped/excluded_episodes": dropped.excluded_episodes,
    "groups/dropped/no_trainable_steps": dropped.no_trainable_steps,
    "groups/dropped/untrained": dropped.untrained,
    "groups/dropped/no_reward": dropped.no_reward,
    "groups/dropped/invalid_reward": dropped.invalid_reward,
  };
}

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
