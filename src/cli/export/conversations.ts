/** Conversations for fine-tuning: chat rows of good trajectories, and pairs of the best and the worst of a task. */
import { conversationOf, type Damage, trajectoryDamage } from "../../core/completeness.ts";
import { isFailed, isScored } from "../../core/outcome.ts";
import type { Episode, Trajectory } from "../../core/trajectory.ts";
import { groupName } from "../../launch/finetune/examples/episode-examples.ts";
import { addTo } from "../../util/group-by.ts";
import { wireTool } from "../../core/tool-json.ts";
import { wireMessage } from "../../core/wire-message.ts";

const toolsOf = ({ steps }: Trajectory): object => {
  const tools = steps.at(-1)?.trace.tools ?? [];
  return tools.length === 0 ? {} : { tools: tools.map(wireTool) };
};

const isUsable = (episode: Episode): boolean => isScored(episode) && !isFailed(episode);

/** Called with the reason of each conversation that is left out since it is not whole. */
export type OnDamage = (why: Damage) => void;

/** Trajectories with calls that may be learned from. */
const trajectoriesOf = (episode: Episode): readonly Trajectory[] =>
  isUsable(episode)
    ? episode.trajectories.filter((one) => one.steps.length > 0 && one.untrained === undefined)
    : [];

function isWhole(trajectory: Trajectory, onDamage: OnDamage): boolean {
  const why = trajectoryDamage(trajectory);
  if (why !== null) onDamage(why);
  return why === null;
}

const rewardOf = (episode: Episode, trajectory: Trajectory): number =>
  trajectory.reward ?? episode.reward ?? 0;

/** `{messages, tools}` of each trajectory that is good enough. */
export function chatRows(episode: Episode, minReward: number | null, onDamage: OnDamage): object[] {
  return trajectoriesOf(episode)
    .filter((one) =>
      minReward === null ? episode.isCorrect === true : rewardOf(episode, one) >= minReward,
    )
    .filter((one) => isWhole(one, onDamage))
    .map((one) => ({ messages: conversationOf(one).map(wireMessage), ...toolsOf(one) }));
}

interface Attempt {
  readonly reward: number;
  readonly trajectory: Trajectory;
}

/**
 * `{prompt, chosen, rejected, tools}`: the best and the worst of each task and role in one step, where their rewards
 * differ. What both conversations begin with is the prompt.
 */
export function preferenceRows(episodes: Iterable<Episode>, onDamage: OnDamage): object[] {
  const groups = new Map<string, Attempt[]>();
  for (const episode of episodes) {
    for (const trajectory of trajectoriesOf(episode)) {
      if (!isWhole(trajectory, onDamage)) continue;
      const key = `${groupName(episode)}\n${trajectory.name}`;
      addTo(groups, key, { reward: rewardOf(episode, trajectory), trajectory });
    }
  }
  return [...groups.values()].flatMap((attempts) => {
    const sorted = attempts.toSorted((a, b) => b.reward - a.reward);
    const [best] = sorted;
    const worst = sorted.at(-1);
    if (best === undefined || worst === undefined || best.reward === worst.reward) return [];
    const [chosen, rejected] = [best, worst].map(({ trajectory }) =>
      conversationOf(trajectory).map(wireMessage),
    ) as [object[], object[]];
    const same = (i: number): boolean => JSON.stringify(chosen[i]) === JSON.stringify(rejected[i]);
    const most = Math.min(chosen.length, rejected.length);
    let shared = 0;
    while (shared < most - 1 && same(shared)) shared++;
    if (shared === 0) return [];
    return {
      prompt: chosen.slice(0, shared),
      chosen: chosen.slice(shared),
      rejected: rejected.slice(shared),
      ...toolsOf(best.trajectory),
    };
  });
}
