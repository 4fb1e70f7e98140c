/** What the runner runs: each agent interface of the trainer becomes a program. */
import type { AgentConfig } from "../../core/agent.ts";
import type { TrajectoryReport } from "../../core/report.ts";
import type { SideCallRule } from "../../core/side-call.ts";
import type { Task } from "../../core/task.ts";
import type { Episode, EvalOutput, TerminationReason } from "../../core/trajectory.ts";

/** What a program returned for one rollout. */
export interface FlowResult {
  readonly reports: readonly TrajectoryReport[];
  /** The plain value; `undefined` when the flow reported only trajectories. */
  readonly output: unknown;
  /**
   * The program's own score, used where there is no evaluator, or with
   * `rollout.reward_source=rollout`.
   */
  readonly evaluation?: EvalOutput;
  /** @default "completed" */
  readonly terminationReason?: TerminationReason;
  /** What ended it, where that was not its own decision: a prompt that does not fit. */
  readonly error?: NonNullable<Episode["error"]>;
  readonly metrics?: Readonly<Record<string, number>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface RolloutProgram<Metadata = Record<string, unknown>> {
  /** Names the program in messages: "The agent flow". */
  readonly what: string;
  /** Name of the trajectory of calls that no handle claims. */
  readonly name?: string;
  /** @see AttributionContext.sideCalls */
  readonly sideCalls?: readonly SideCallRule[];
  /** Whether it can assign rewards itself. @default false */
  readonly scoresItself?: boolean;
  /**
   * Whether its rollouts have a limit of turns, and end with `max_turns_exceeded` automatically.
   * @default false
   */
  readonly limitsTurns?: boolean;
  /** Rejects when the attempt failed; a `TerminationEvent` ends the rollout with its reason instead. */
  run(task: Task<Metadata>, config: AgentConfig): Promise<FlowResult>;
  /** Ends what it keeps between rollouts. @default nothing */
  dispose?(): PromiseLike<void>;
}
