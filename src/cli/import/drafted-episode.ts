/** Episodes from what other programs recorded: calls with their messages, and tokens where there are some. */
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import { defaultSampling } from "../../core/policy.ts";
import type { Episode, Step, Trajectory } from "../../core/trajectory.ts";
import { messageText } from "../../core/message-text.ts";
import { groupBy } from "../../util/group-by.ts";

/** One model call; tokens are empty where the file has none. */
export interface DraftedCall {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly response: ChatMessage;
  readonly model: string;
  readonly promptIds: readonly number[];
  readonly responseIds: readonly number[];
  readonly logprobs: readonly number[];
  readonly usage?: { readonly promptTokens: number; readonly completionTokens: number };
  readonly stopReason: "stop" | "length";
  readonly weightVersion: number | null;
  /** null = none was given. */
  readonly reward: number | null;
  /** Milliseconds since the epoch. */
  readonly finishedAt: number;
}

/** One trajectory; those with the same episode belong together. */
export interface DraftedTrajectory {
  readonly episode: string;
  readonly uid: string;
  readonly name: string;
  readonly task: { readonly id: string; readonly instruction: string };
  readonly reward: number | null;
  readonly isCorrect: boolean | null;
  readonly calls: readonly DraftedCall[];
}

function stepOf(call: DraftedCall, sequence: number, { episode, uid }: DraftedTrajectory): Step {
  const { promptIds, responseIds, logprobs, usage, reward, ...rest } = call;
  return {
    ...(reward === null ? {} : { reward }),
    done: false,
    trace: {
      ...rest,
      ...(usage === undefined ? {} : { usage }),
      responseId: call.id,
      sessionUid: episode,
      trajectoryUid: uid,
      sequence,
      choice: 0,
      protocol: "openai-chat",
      promptIds: Int32Array.from(promptIds),
      responseIds: Int32Array.from(responseIds),
      logprobs: Float32Array.from(logprobs),
      logprobKind: "raw",
      sampling: { ...defaultSampling, seed: 0, stopTokenIds: [] },
      parentId: null,
      startedAt: call.finishedAt,
    },
  };
}

function trajectoryOf(draft: DraftedTrajectory): Trajectory {
  const { uid, name, reward, calls } = draft;
  const steps = calls.map((call, i) => stepOf(call, i, draft));
  return { uid, name, steps, reward, signals: {}, metadata: {} };
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/** Episodes in the order of their first trajectory. Rollouts of a task are numbered as they come. */
export function episodesOfDrafts(drafts: readonly DraftedTrajectory[]): Episode[] {
  const groups = groupBy(drafts, ({ episode }) => episode);
  const rollouts = new Map<string, number>();
  return [...groups].map(([id, own]): Episode => {
    const [first] = own as [DraftedTrajectory];
    const rolloutIndex = rollouts.get(first.task.id) ?? 0;
    rollouts.set(first.task.id, rolloutIndex + 1);
    const calls = own.flatMap((draft) => draft.calls);
    const last = calls.at(-1);
    return {
      id,
      task: { ...first.task, metadata: {} },
      rolloutIndex,
      trajectories: own.map(trajectoryOf),
      output: last === undefined ? null : messageText(last.response.content),
      isCorrect: first.isCorrect,
      reward: first.reward,
      terminationReason: "completed",
      metrics: {
        turns: calls.length,
        "tokens/prompt": sum(
          calls.map(({ promptIds, usage }) => usage?.promptTokens ?? promptIds.length),
        ),
        "tokens/response": sum(
          calls.map(({ responseIds, usage }) => usage?.completionTokens ?? responseIds.length),
        ),
      },
      metadata: {},
      attempts: 1,
    };
  });
}
