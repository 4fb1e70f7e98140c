/** Conversations for fine-tuning: chat rows of good trajectories, and pairs of the best and the worst of a task. */
import type { ChatMessage } from "../../core/message.ts";
import { isFailed, isScored } from "../../core/outcome.ts";
import type { Episode, Trajectory } from "../../core/trajectory.ts";
import { groupName } from "../../launch/finetune/examples/episode-examples.ts";
import { addTo } from "../../util/group-by.ts";
import { wireTool } from "../../core/tool-json.ts";
import { wireMessage } from "../../core/wire-message.ts";

/** The last call's prompt with its response: all of the conversation, where the agent kept its history. */
function conversationOf({ steps }: Trajectory): readonly ChatMessage[] {
  const last = steps.at(-1)?.trace;
  return last === undefined ? [] : [...last.messages, last.response];
}

const toolsOf = ({ steps }: Trajectory): object => {
  const tools = steps.at(-1)?.trace.tools ?? [];
  return tools.length === 0 ? {} : { tools: tools.map(wireTool) };
};

const isUsable = (episode: Episode): boolean => isScored(episode) && !isFailed(episode);

const rewardOf = (episode: Episode, trajectory: Trajectory): number =>
  trajectory.reward ?? episode.reward ?? 0;

/** `{messages, tools}` of each trajectory that is good enough. */
export function chatRows(episode: Episode, minReward: number | null): object[] {
  if (!isUsable(episode)) return [];
  return episode.trajectories
    .filter((one) => one.steps.length > 0 && one.untrained === undefined)
    .filter((one) =>
      minReward === null ? episode.isCorrect === true : rewardOf(episode, one) >= minReward,
    )
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
export function preferenceRows(episodes: Iterable<Episode>): object[] {
  const groups = new Map<string, Attempt[]>();
  for (const episode of episodes) {
    if (!isUsable(episode)) continue;
    for (const trajectory of episode.trajectories) {
      if (trajectory.steps.length === 0 || trajectory.untrained !== undefined) continue;
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
