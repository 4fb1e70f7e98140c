/** Conversations for fine-tuning: chat rows of good trajectories, and pairs of the best and the worst of a task. */
import {
  captured,
  completenessOf,
  conversationDamage,
  type Damage,
  together,
} from "../../core/completeness.ts";
import type { ChatMessage } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import { isFailed, isScored } from "../../core/outcome.ts";
import type { Episode, Trajectory } from "../../core/trajectory.ts";
import { groupName } from "../../launch/finetune/examples/episode-examples.ts";
import { addTo } from "../../util/group-by.ts";
import { wireMessage, wireTool } from "../../core/wire-message.ts";

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

const saidIn = ({ content, toolCalls = [] }: ChatMessage): string =>
  JSON.stringify([messageText(content), toolCalls.map((call) => call.arguments)]);

/** Why a conversation is not whole: one of its responses was cut off, or a result is missing. */
function damageOf(trajectory: Trajectory): Damage | null {
  const conversation = conversationOf(trajectory);
  const said = new Set(conversation.filter(({ role }) => role === "assistant").map(saidIn));
  // An agent may have asked again, without what it got first.
  const calls = trajectory.steps
    .filter(({ trace }) => said.has(saidIn(trace.response)))
    .map(({ trace }) => captured(trace.stopReason));
  const all = completenessOf(conversationDamage(conversation), "complete");
  const found = together([...calls, all]);
  return found.state === "cut" ? found.why : null;
}

/** Called with the reason of each conversation that is left out since it is not whole. */
export type OnDamage = (why: Damage) => void;

/** Trajectories with calls that may be learned from. */
const trajectoriesOf = (episode: Episode): readonly Trajectory[] =>
  isUsable(episode)
    ? episode.trajectories.filter((one) => one.steps.length > 0 && one.untrained === undefined)
    : [];

function isWhole(trajectory: Trajectory, onDamage: OnDamage): boolean {
  const why = damageOf(trajectory);
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
