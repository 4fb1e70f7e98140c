/** One episode: its calls, conversations and tokens, and the other rollouts of its group; types only. */
import type { ToolCall } from "../../core/message.ts";
import type { TokenRecord } from "../../core/token-record.ts";
import type { EpisodeRow } from "./episodes.ts";

/** A message that one call added to the conversation. */
export interface ViewMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly name?: string;
  /** Of a tool result: the call that it answers. */
  readonly toolCallId?: string;
  /** A tool result that reports an error. */
  readonly isToolError?: boolean;
}

/** One model call, with the messages that are new in its prompt. */
export interface ViewCall {
  /** Position among the episode's calls, from 0. */
  readonly k: number;
  /** Why its prompt does not continue the call before; absent where it does. */
  readonly break?: string;
  readonly newMessages: readonly ViewMessage[];
  readonly response: ViewMessage;
  readonly promptTokens: number;
  readonly responseTokens: number;
  readonly stopReason: string;
  readonly seconds: number;
  readonly weightVersion: number | null;
  readonly tools: readonly string[];
  readonly notes: readonly string[];
  readonly hasTokens: boolean;
  /** Index of its conversation among those of the trajectory. */
  readonly thread: number;
}

/** Calls of a trajectory that continue each other. */
export interface ViewThread {
  /** `main`, the rule that names a side call, or how its first request begins. */
  readonly name: string;
  /** Numbers within the episode. */
  readonly calls: readonly number[];
  /** Call that had begun it, as far as times and tools tell; null for the first. */
  readonly parent: number | null;
  /** 0 for those without a parent. */
  readonly depth: number;
}

export interface ViewTrajectory {
  readonly name: string;
  readonly reward: number | null;
  readonly calls: readonly ViewCall[];
  /** More than one where it has sub-agents, side calls or calls at the same time. */
  readonly threads: readonly ViewThread[];
}

/** Bodies of one call over HTTP; keys are redacted, and long ones cut. */
export interface HttpBodies {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly request: { readonly text: string; readonly length: number };
  readonly reply: { readonly text: string; readonly length: number };
}

/** A call as the agent sent it. */
export interface CallHttp {
  /** What the gateway captures of every request. */
  readonly captured: Readonly<Record<string, unknown>>;
  /** Null where the run kept none. */
  readonly bodies: HttpBodies | null;
  /** Why there are none. */
  readonly note: string;
}

/** What happened in an episode, for everything that shows one: pages, files and terminals. */
export interface Conversation {
  readonly id: string;
  readonly task: string;
  readonly instruction: string;
  /** Metadata of the task as JSON, where an expected answer often is; empty without any. */
  readonly metadata: string;
  /** The answer that the metadata names; null where no field has a usual name for it. */
  readonly expected: string | null;
  readonly trajectories: readonly ViewTrajectory[];
  readonly output: string;
  readonly reward: number | null;
  readonly isCorrect: boolean | null;
  readonly signals: Readonly<Record<string, number>>;
  /** Why it ended, as recorded. */
  readonly ended: string;
  /** Of its error, and of calls that failed without one; null without any. */
  readonly error: string | null;
  readonly failedCalls: string | null;
  readonly errorStack: string | null;
  /** How it ended, as a sentence. */
  readonly ending: string;
  readonly isBad: boolean;
}

/** A conversation with its place in the index. */
export interface ViewEpisode extends Conversation {
  readonly row: EpisodeRow;
  readonly previous: number | null;
  readonly following: number | null;
}

/** Numbers of a call's sampled tokens in the step that trained on them; lists are as long as the response. */
export type TrainedTokens = Omit<TokenRecord, "episode" | "trace">;

export interface TokenView {
  readonly promptIds: readonly number[];
  readonly responseIds: readonly number[];
  readonly logprobs: readonly number[];
  readonly temperedLogprobs: readonly number[] | null;
  readonly logprobKind: string;
  /** Texts of the ids; null where the model's tokenizer is not at hand. */
  readonly promptTexts: readonly string[] | null;
  readonly responseTexts: readonly string[] | null;
  /** Why no token of the call is trained; empty where nothing recorded speaks against it. */
  readonly untrained: readonly string[];
  /** Null where the run kept none of this call. */
  readonly trained: TrainedTokens | null;
  /** What the run did not record of these tokens and why, as sentences. */
  readonly notRecorded: readonly string[];
}

/** One rollout of a group, with where it parts from the first one. */
export interface GroupMember {
  readonly row: EpisodeRow;
  /** Reward less the mean reward of the group; null without a reward. */
  readonly advantage: number | null;
  readonly calls: readonly {
    readonly text: string;
    readonly ids: readonly number[];
    readonly texts: readonly string[] | null;
  }[];
  /** First sampled token that is another than in the first rollout; null where all are equal. */
  readonly firstDifference: { readonly call: number; readonly token: number } | null;
}

/** Where a rollout parts from another one. */
export interface Parting {
  readonly call: number;
  /** What both have before it. */
  readonly shared: string;
  readonly own: string;
  readonly other: string;
}

/** Another rollout of an episode's group, or the episode itself. */
export interface Sibling {
  readonly row: EpisodeRow;
  /** Reward less the mean reward of the group; null without a reward. */
  readonly advantage: number | null;
  /** From the episode; null where the responses are the same. */
  readonly parting: Parting | null;
}

/** One rollout with its responses, to be compared with another. */
export interface RolloutView {
  readonly row: EpisodeRow;
  readonly calls: GroupMember["calls"];
}
