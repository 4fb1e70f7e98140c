/** What the viewer's server sends and its page reads; types only, shared by both. */
import type { ToolCall } from "../core/message.ts";
import type { RunFinding } from "../core/health.ts";
import type { TokenRecord } from "../core/token-record.ts";
import type { EpisodePhase } from "../runs/evaluations/recorded-episode.ts";
import type { CurateStage, GateStage, Round, TrainStage } from "../runs/rounds/round.ts";

export type { EpisodePhase };

/** One row of the list of episodes. */
export interface EpisodeRow {
  /** Number within the index, from 1. */
  readonly n: number;
  readonly id: string;
  readonly step: number;
  readonly phase: EpisodePhase;
  readonly task: string;
  /** Beginning of the task's instruction. */
  readonly question: string;
  readonly rollout: number;
  readonly reward: number | null;
  readonly correct: boolean | null;
  readonly ended: string;
  readonly error: string | null;
  readonly calls: number;
  readonly promptTokens: number;
  readonly responseTokens: number;
  readonly toolCalls: number;
  readonly toolErrors: number;
  /** Calls that were cut off by their token limit. */
  readonly truncated: number;
  readonly malformed: number;
  readonly seconds: number;
  readonly weightVersion: number | null;
  /** Beginning of the last response. */
  readonly preview: string;
}

/** What `GET episodes` can be asked for; all that are given must hold. */
export interface EpisodeFilter {
  readonly phase?: EpisodePhase;
  readonly step?: number;
  readonly task?: string;
  readonly ended?: string;
  readonly minReward?: number;
  readonly maxReward?: number;
  /** Words of the instruction, the responses, tool arguments and tool results; each may be a prefix. */
  readonly text?: string;
  readonly only?: "tool-errors" | "errors" | "truncated" | "malformed" | "incorrect";
}

export interface EpisodePage {
  readonly rows: readonly EpisodeRow[];
  /** Matching episodes, counted up to `countLimit`. */
  readonly count: number;
  readonly isCountExact: boolean;
  /** Pass as `after` for the next page; null on the last. */
  readonly next: number | null;
}

export interface IndexState {
  readonly episodes: number;
  readonly calls: number;
  /** Lines that hold no episode. */
  readonly damaged: number;
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly isBuilding: boolean;
}

export interface RunEntry {
  /** Position in the command's arguments; names the run in URLs. */
  readonly key: number;
  readonly name: string;
  readonly path: string;
  readonly model: string;
  readonly backend: string;
  readonly status: string;
  /** Why it failed, ended early or learned nothing, or cannot be read; null where there is nothing to say. */
  readonly reason: string | null;
  readonly steps: number;
  readonly totalSteps: number | null;
  readonly firstReward: number | null;
  readonly lastReward: number | null;
  readonly bestValidation: { readonly step: number; readonly value: number } | null;
  /** When its log was last written, in milliseconds since the epoch; null where it has none. */
  readonly updatedAt: number | null;
  /** What is wrong with it now, problems before warnings. */
  readonly findings: readonly Pick<RunFinding, "name" | "severity">[];
  readonly index: IndexState;
}

/** Pieces of feedback from 0 to 1, and their sum. */
export interface FeedbackCount {
  readonly n: number;
  readonly sum: number;
}

/** A round of improvement; what is not done yet is null. */
export interface RoundRow extends Pick<Round, "round" | "status" | "startedAt" | "endedAt"> {
  /** Key of its run; null where that is not viewed. */
  readonly run: number | null;
  readonly curate: CurateStage | null;
  readonly train: TrainStage | null;
  readonly gate: GateStage | null;
  /** Whether what it handed over was the last. */
  readonly isNewest: boolean;
  /** About its model; null without any. */
  readonly feedback: FeedbackCount | null;
}

export interface Facets {
  readonly ended: readonly { readonly value: string; readonly count: number }[];
  readonly phases: readonly EpisodePhase[];
  /** Steps that have episodes, ascending. */
  readonly steps: readonly number[];
}

/** Metrics by name; every list is as long as `steps`. */
export interface MetricTable {
  readonly steps: readonly number[];
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
}

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

/** Correlation of two numbers over episodes, with its 95 % interval by Fisher's transformation. */
export interface Correlation {
  readonly r: number;
  readonly low: number;
  readonly high: number;
  readonly episodes: number;
}

/** The reward, its parts and what else is known of episodes, and how they go together. */
export interface RewardParts {
  readonly names: readonly string[];
  readonly episodes: number;
  readonly fromStep: number;
  readonly toStep: number;
  /** [name][name]; null where one of the two never varies. */
  readonly cells: readonly (readonly (Correlation | null)[])[];
}

/** A mean on both sides, and the difference with its 95 % interval over tasks. */
export interface Difference {
  readonly a: number;
  readonly b: number;
  readonly difference: number;
  /** null for too few tasks. */
  readonly low: number | null;
  readonly high: number | null;
}

/** One run against another on the tasks that both have. */
export interface RunsCompared {
  /** What was compared of each: `validation after step 8`. */
  readonly a: string;
  readonly b: string;
  /** Tasks that both have; 0 where they have none in common. */
  readonly tasks: number;
  readonly reward: Difference | null;
  readonly pass: Difference | null;
  /** The second against the first, by the difference in reward; null where the test finds none. */
  readonly verdict: "better" | "worse" | null;
  /** Tasks that differ, largest difference first, with an episode of each side. */
  readonly changed: readonly {
    readonly task: string;
    readonly a: number | null;
    readonly b: number | null;
    readonly episodeA: number | null;
    readonly episodeB: number | null;
  }[];
  /** Options that differ, as JSON. */
  readonly options: Readonly<Record<string, readonly [string | null, string | null]>>;
}

/** A disease of the run. */
export interface Finding extends RunFinding {
  /** Number of an episode that shows it; null where there is none. */
  readonly example: number | null;
}

export type { ChangedOption } from "../core/changed-option.ts";

/** What was spent; money is null where no prices are known. */
interface Spent {
  readonly seconds: number;
  readonly tokens: number;
  readonly usd: number | null;
}

/** What the run has cost, and what a point of reward cost, also in a line; null for fewer than two steps. */
export type RunCost =
  | (Spent & {
      readonly text: string;
      /** What the gain is measured by. */
      readonly metric: string;
      readonly gain: number;
      /** Per 0.01 of it; null where nothing was gained. */
      readonly perPoint: Spent | null;
    })
  | null;

/** What became of a task: in the upper half of the rewards at the end, at the beginning, both or neither. */
export type TaskFate = "learned" | "always" | "never" | "lost";

/** Rollouts of a task in one column of the map. */
export interface MapCell {
  /** Index among the columns. */
  readonly column: number;
  /** Their mean reward; null where none has one. */
  readonly reward: number | null;
  readonly rollouts: number;
  /** Number of one of the episodes. */
  readonly n: number;
}

export interface MapRow {
  readonly task: string;
  readonly question: string;
  readonly cells: readonly MapCell[];
  /** Mean reward of the first and of the last visits; null where there is none. */
  readonly first: number | null;
  readonly last: number | null;
  /** `last` less `first`; null for fewer than two visits. */
  readonly gain: number | null;
  readonly fate: TaskFate;
  /** Step from which on it is solved; null for all but learned tasks. */
  readonly learnedAt: number | null;
}

/** Rewards by task and step. */
export interface TaskMap {
  readonly phase: EpisodePhase;
  /** Phases that have episodes. */
  readonly phases: readonly EpisodePhase[];
  /** First step of each column. */
  readonly columns: readonly number[];
  readonly stepsPerColumn: number;
  /** The newest step; null without any. */
  readonly lastStep: number | null;
  /** What the colours span. */
  readonly low: number;
  readonly high: number;
  /** Mean over the tasks of each column. */
  readonly mean: readonly (number | null)[];
  /** Largest gain first. */
  readonly rows: readonly MapRow[];
  /** More than there are rows where some are left out. */
  readonly tasks: number;
  readonly fates: Readonly<Record<TaskFate, number>>;
}

/** One task at the beginning and now. */
export interface ChangedTask {
  readonly task: string;
  readonly question: string;
  readonly before: { readonly n: number; readonly reward: number };
  readonly now: { readonly n: number; readonly reward: number };
}

/** The same tasks at two steps; null where no task was tried twice. */
export type RunChanges = {
  readonly phase: EpisodePhase;
  readonly fromStep: number;
  readonly toStep: number;
  readonly better: number;
  readonly worse: number;
  readonly same: number;
  /** Largest change first. */
  readonly tasks: readonly ChangedTask[];
} | null;

/** What sets the runs apart. */
export interface RunsApart {
  /** Options that are not the same in all, with the value of each run as JSON; null where it has none. */
  readonly options: readonly {
    readonly key: string;
    readonly values: readonly (string | null)[];
  }[];
  /** Runs with the same number differ in their seed alone. */
  readonly groups: readonly number[];
}
