/**
 * What the runner runs: each of the ways into the trainer becomes a program. Knows nothing of sessions
 * or retries.
 */
import type { AgentConfig } from "../core/agent.ts";
import type { TrajectoryReport } from "../core/report.ts";
import type { Task } from "../core/task.ts";
import type { EvalOutput, TerminationReason } from "../core/trajectory.ts";

/** What a program made of one rollout. */
export interface FlowResult {
  readonly reports: readonly TrajectoryReport[];
  /** The plain value; `undefined` when the flow reported trajectories alone. */
  readonly output: unknown;
  /** The program's own score, used where there is no evaluator or `rollout.reward_source` says so. */
  readonly evaluation?: EvalOutput;
  /** @default "completed" */
  readonly terminationReason?: TerminationReason;
  readonly metrics?: Readonly<Record<string, number>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface RolloutProgram<Metadata = Record<string, unknown>> {
  /** For messages: "The agent flow". */
  readonly what: string;
  /** Name of the trajectory of calls that no handle claims. */
  readonly name?: string;
  /** It can give rewards of its own. @default false */
  readonly scoresItself?: boolean;
  /** Its rollouts are bounded in turns, and end with `max_turns_exceeded` by themselves. @default false */
  readonly limitsTurns?: boolean;
  /** Rejects when the attempt failed; a `TerminationEvent` ends the rollout with its reason instead. */
  run(task: Task<Metadata>, config: AgentConfig): Promise<FlowResult>;
}
