/** What users write: flows and evaluators, and what a flow is given. */
import type { EnvironmentEpisode } from "./environment.ts";
import type { SideCallRule } from "./side-call.ts";
import type { EpisodeReport, TrajectoryReport } from "./report.ts";
import type { Task } from "./task.ts";
import type { Episode, EvalOutput } from "./trajectory.ts";

/** An endpoint whose calls belong to one named trajectory. */
export interface TrajectoryHandle {
  /** Id of the trajectory, for `defineTrajectory({ uid })`. */
  readonly uid: string;
  /** The name that it was requested by. */
  readonly name: string;
  /** OpenAI-compatible base URL, ending in `/v1`. */
  readonly baseUrl: string;
  /** Bearer token of the rollout's session. */
  readonly apiKey: string;
}

/** How the calls of a named trajectory are grouped and whether they are trained. */
export interface TrajectoryOptions {
  /** Role under which it is grouped and trained; several trajectories may share one. @default its name */
  readonly role?: string;
  /** `false` excludes its calls from training: titles, summaries, a judge. @default true */
  readonly train?: boolean;
}

/** What a flow gets in addition to the task. */
export interface AgentConfig {
  /** OpenAI-compatible base URL of this rollout's session, ending in `/v1`. */
  readonly baseUrl: string;
  /** Bearer token of this session; valid nowhere else. */
  readonly apiKey: string;
  /** Model name to send: short, without the path of a local model. */
  readonly model: string;
  /** Id of this rollout's session at the gateway. */
  readonly sessionUid: string;
  /** Whether the rollout belongs to a validation; then nothing is trained on it. */
  readonly isValidation: boolean;
  /** What the gateway enforces, whatever the agent sends. For information. */
  readonly samplingParams: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Aborted at the rollout's deadline and when the run stops; hand it to `fetch` and SDKs. */
  readonly signal: AbortSignal;
  /** What the setup hook of this rollout returned; `undefined` without one. */
  readonly env: unknown;
  /** The episode of the run's environment (option `env`): its prompt, its tools and their calls. Absent without one. */
  readonly environment?: EnvironmentEpisode;
  /**
   * A `fetch` for SDKs: inside of `withTrajectory(name, ...)` it sends calls that are meant for
   * `baseUrl` to the endpoint of that trajectory. They go to the gateway as a function, without a socket, which
   * takes less processor time. Anything else passes unchanged.
   */
  readonly fetch: typeof fetch;
  /** A separate endpoint. The same name gives the same trajectory within a rollout. */
  readonly trajectory: (name: string, options?: TrajectoryOptions) => TrajectoryHandle;
}

export type AgentFlowFunction<Metadata = Record<string, unknown>> = (
  task: Task<Metadata>,
  config: AgentConfig,
) => unknown;
export interface AgentFlowObject<Metadata = Record<string, unknown>> {
  /** Name of the trajectory for calls that belong to no handle. @default "agent" */
  readonly name?: string;
  /** Rules by which calls next to the task are kept out of training, see `rollout.side_calls`. @default none */
  readonly sideCalls?: readonly SideCallRule[];
  run(task: Task<Metadata>, config: AgentConfig): unknown;
  /** Called after the last rollout of a run or an evaluation; a later `run` starts anew. @default none */
  [Symbol.asyncDispose]?(): PromiseLike<void>;
}
/**
 * The user's agent: a function, or an object with `run`; sync or async. It may return an episode, a
 * trajectory, a list of trajectories, or any plain value (a string, a number, an object, nothing),
 * which becomes `episode.output`. Steps always come from the captured calls.
 *
 * @example
 * const agentFlow: AgentFlow<{ question: string }> = async (task, config) => {
 *   const client = new OpenAI({ baseURL: config.baseUrl, apiKey: config.apiKey, maxRetries: 0 });
 *   const { choices } = await client.chat.completions.create(
 *     { model: config.model, messages: [{ role: "user", content: task.metadata.question }] },
 *     { signal: config.signal },
 *   );
 *   return choices[0]?.message.content;
 * };
 */
export type AgentFlow<Metadata = Record<string, unknown>> =
  | AgentFlowFunction<Metadata>
  | AgentFlowObject<Metadata>;

/**
 * `true`/`false` = reward 1/0; a number = reward, correct from 1 on and incorrect up to 0, or as
 * `rollout.solved_reward` defines; a pair = [reward, isCorrect].
 */
export type EvaluatorResult = EvalOutput | boolean | number | readonly [number, boolean];

type EvaluatorFunction<Metadata = Record<string, unknown>> = (
  task: Task<Metadata>,
  episode: Episode,
) => EvaluatorResult | Promise<EvaluatorResult>;
interface EvaluatorObject<Metadata = Record<string, unknown>> {
  evaluate(task: Task<Metadata>, episode: Episode): EvaluatorResult | Promise<EvaluatorResult>;
}
/**
 * The user's score: a function, or an object with `evaluate`; sync or async. See {@link
 * EvaluatorResult} for what it may return.
 *
 * @example
 * const evaluator: Evaluator<{ answer: string }> = (task, episode) =>
 *   episode.output === task.metadata.answer;
 */
export type Evaluator<Metadata = Record<string, unknown>> =
  | EvaluatorFunction<Metadata>
  | EvaluatorObject<Metadata>;

/**
 * Scores the rollouts of one task in a training step together, relative to each other: one result for each
 * episode, in their order. `signal` is aborted at the deadline (`workflow.evaluator_timeout_s`) and when the
 * run stops.
 *
 * @example
 * const shortest: GroupEvaluator = (_task, episodes) =>
 *   episodes.map(({ output }) => -String(output).length);
 */
export type GroupEvaluator<Metadata = Record<string, unknown>> = (
  task: Task<Metadata>,
  episodes: readonly Episode[],
  how: { readonly signal: AbortSignal },
) => readonly EvaluatorResult[] | Promise<readonly EvaluatorResult[]>;

/** What a program that scores itself returns; the forms of a score are those of an evaluator. */
type AgentRunResult =
  | EvaluatorResult
  | EpisodeReport
  | TrajectoryReport
  | readonly TrajectoryReport[];

/**
 * An agent and its score in one: returns a reward for all of its calls, or trajectories of which each
 * has a reward.
 */
export type AgentRunFunction<Metadata = Record<string, unknown>> = (
  task: Task<Metadata>,
  config: AgentConfig,
) => AgentRunResult | Promise<AgentRunResult>;
