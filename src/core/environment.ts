/** The contract of environments: tasks, and episodes with a prompt, tools and rewards. No protocol. */
import type { Task } from "./task.ts";

/** A message in OpenAI's wire format, with which an episode begins. */
export interface PromptMessage {
  readonly role: string;
  /** Text, or parts as in `[{ type: "text", text }, { type: "image_url", image_url: { url } }]`. */
  readonly content: string | readonly Readonly<Record<string, unknown>>[];
}

/** A tool that an environment offers to the model. */
export interface EnvironmentTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What a tool, or the environment, responded. */
export interface EnvironmentResult {
  /** What the model sees. */
  readonly text: string;
  /** Reward of this call; absent where the environment gave none. */
  readonly reward?: number;
  /** Parts of the reward, by name: signals of the rollout. */
  readonly signals?: Readonly<Record<string, number>>;
  /** Whether the episode has ended. @default false */
  readonly done?: boolean;
  /** Whether the call was refused: unknown tool, wrong arguments. The episode goes on. @default false */
  readonly isError?: boolean;
}

/** Where an agent reaches the model: an OpenAI-compatible endpoint of this attempt alone. */
export interface ModelAddress {
  /** `http://.../v1` */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
}

/** What an episode that was played by the environment's own agent came to. */
export interface EpisodeOutcome {
  readonly reward: number;
  /** Parts of the reward and other numbers, by name. */
  readonly signals?: Readonly<Record<string, number>>;
}

/** One attempt at one task. Calls are made one at a time. */
export interface EnvironmentEpisode {
  /** The first messages of the conversation. */
  readonly prompt: readonly PromptMessage[];
  /** What the model may call; empty where it only writes. */
  readonly tools: readonly EnvironmentTool[];
  /**
   * Calls a tool; never twice for one call of this method, whatever happens to the connection.
   * @throws AgentTrainerError (`ENVIRONMENT_FAILED`) when the environment itself failed.
   */
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<EnvironmentResult>;
  /**
   * Takes a response of the model without tool calls: a result with `done: false` is the next message to
   * it. Absent where such a response just ends the episode.
   */
  respond?(text: string, signal: AbortSignal): Promise<EnvironmentResult>;
  /**
   * Scores an episode whose agent ended before the environment did. Absent where there is nothing to score
   * then.
   */
  finish?(signal: AbortSignal): Promise<EnvironmentResult>;
  /**
   * Plays the episode to its end with the environment's own agent, which calls the model at `model`.
   * Absent where the environment has no agent.
   */
  play?(model: ModelAddress, signal: AbortSignal): Promise<EpisodeOutcome>;
  /** Frees what the environment holds for the episode. Idempotent; does not throw. */
  close(): Promise<void>;
}

/** Which tasks of a split, by their positions from 0. */
export interface TaskRange {
  /** @default 0 */
  readonly start?: number;
  /** The first task that is left out. @default Infinity */
  readonly stop?: number;
}

/** How an episode is opened. */
export interface OpenEpisode {
  /** The episode is abandoned when it aborts. */
  readonly signal: AbortSignal;
  /** For environments that use randomness. */
  readonly seed?: number;
}

/** An environment: tasks, and episodes at them. Three methods, of which one is optional. */
export interface EnvironmentSource {
  /** What it is called in messages: "openenv:http://127.0.0.1:8000". */
  readonly name: string;
  /** Whether its episodes have rewards; if not, the run needs an evaluator. @default true */
  readonly givesRewards?: boolean;
  /** Whether its episodes are played by its own agent, with `play`: no other agent can be used. @default false */
  readonly bringsAgent?: boolean;
  /**
   * The tasks of a split, in their own order, in a form that `open` takes again: plain data.
   * @param split `train`, `test` or another name that the environment has.
   */
  tasks(split: string, range?: TaskRange, signal?: AbortSignal): AsyncIterable<Task>;
  /** Begins an episode. @throws AgentTrainerError (`ENVIRONMENT_FAILED`) when it cannot be opened. */
  open(task: Task, options: OpenEpisode): Promise<EnvironmentEpisode>;
  /** Frees what the source itself holds: processes, connections. Idempotent. */
  close?(): Promise<void>;
}
