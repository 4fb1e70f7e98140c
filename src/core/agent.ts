/** What users write: flows and evaluators, and what a flow is given. */
import type { Task } from "./task.ts";
import type { Episode, EvalOutput } from "./trajectory.ts";

/** An endpoint whose calls belong to one named trajectory. */
export interface TrajectoryHandle {
  readonly uid: string;
  readonly name: string;
  /** OpenAI-compatible base URL, ending in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** What a flow gets beside the task. */
export interface AgentConfig {
  /** OpenAI-compatible base URL of this rollout's session, ending in `/v1`. */
  readonly baseUrl: string;
  /** Bearer token of this session; valid nowhere else. */
  readonly apiKey: string;
  /** Model name to send. */
  readonly model: string;
  readonly sessionUid: string;
  readonly isValidation: boolean;
  /** What the gateway enforces, whatever the agent sends. For information. */
  readonly samplingParams: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Aborted at the rollout's deadline and when the run stops; hand it to `fetch` and SDKs. */
  readonly signal: AbortSignal;
  /** An endpoint for one role. The same name gives the same trajectory within a rollout. */
  trajectory(name: string): TrajectoryHandle;
}

/**
 * A trajectory as a flow reports it; `uid` or `name` must match a handle it asked for, if it did.
 * A flow may return one, a list of them, or any plain value (a string, a number, an object, nothing),
 * which becomes `episode.output`. Steps always come from the captured calls.
 */
export interface TrajectoryReport {
  readonly kind: "trajectory";
  readonly name: string;
  readonly uid?: string;
  readonly reward?: number;
  readonly output?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Marks a value as a trajectory report, so that a plain object stays a plain output. */
export function reportTrajectory(report: Omit<TrajectoryReport, "kind">): TrajectoryReport {
  return { kind: "trajectory", ...report };
}

export type AgentFlowFunction<Metadata = Record<string, unknown>> = (
  task: Task<Metadata>,
  config: AgentConfig,
) => unknown;
export interface AgentFlowObject<Metadata = Record<string, unknown>> {
  /** Name of the trajectory of calls that no handle claims. @default "agent" */
  readonly name?: string;
  run(task: Task<Metadata>, config: AgentConfig): unknown;
}
/** The user's agent: a function, or an object with `run`; sync or async. */
export type AgentFlow<Metadata = Record<string, unknown>> =
  | AgentFlowFunction<Metadata>
  | AgentFlowObject<Metadata>;

/** `true`/`false` = reward 1/0; a number = reward, correct when > 0; a pair = [reward, isCorrect]. */
export type EvaluatorResult = EvalOutput | boolean | number | readonly [number, boolean];

export type EvaluatorFunction<Metadata = Record<string, unknown>> = (
  task: Task<Metadata>,
  episode: Episode,
) => EvaluatorResult | Promise<EvaluatorResult>;
export interface EvaluatorObject<Metadata = Record<string, unknown>> {
  evaluate(task: Task<Metadata>, episode: Episode): EvaluatorResult | Promise<EvaluatorResult>;
}
/** The user's score: a function, or an object with `evaluate`. */
export type Evaluator<Metadata = Record<string, unknown>> =
  | EvaluatorFunction<Metadata>
  | EvaluatorObject<Metadata>;
