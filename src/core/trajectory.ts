/**
 * What a rollout produces: an Episode holds named Trajectories, a Trajectory holds Steps, a Step
 * holds the Trace of one model call. Read-only: later stages create new objects.
 */
import type { Task } from "./task.ts";
import type { Trace } from "./trace.ts";

/** A call that ended in an error, or was cut, and that the agent did not repeat with success. */
export interface FailedCall {
  /** What its client was told, or would have been told. */
  readonly message: string;
  /** Of the error, also where a stream had begun; null where the client ended the call. */
  readonly status: number | null;
}

/** Null where there is none, apart from those that the rollout's own error already tells. */
export function describeFailedCalls(
  failed: readonly FailedCall[] = [],
  error?: { readonly message: string },
): string | null {
  const calls = failed.filter(({ message }) => error?.message.includes(message) !== true);
  const [first] = calls;
  if (first === undefined) return null;
  const count = calls.length === 1 ? "A model call" : `${calls.length} model calls`;
  return `${count} failed and had no successful repetition: ${first.message}`;
}

/** One model call inside a trajectory, with what the flow reported about it. */
export interface Step {
  /** The captured call: messages, response, token ids, log-probabilities, weight version. */
  readonly trace: Trace;
  /** What the agent did with the completion, if reported. */
  readonly action?: unknown;
  /** Reward of this step alone; absent where none was given, which is not a reward of 0. */
  readonly reward?: number;
  readonly done: boolean;
  /** Given by the flow: one number for all sampled tokens, or one for each. */
  readonly advantage?: number | readonly number[];
}

/** A sequence of steps by one agent with one reward: a solver, a judge, or simply the agent. */
export interface Trajectory {
  readonly uid: string;
  /** Role within the task; groups are made by `{taskId}:{name}`. */
  readonly name: string;
  readonly steps: readonly Step[];
  /** null = not scored (yet). */
  readonly reward: number | null;
  readonly signals: Readonly<Record<string, number>>;
  readonly output?: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Why it is excluded from training, such as a role that the run does not train; absent when it is not. */
  readonly untrained?: string;
}

/** Name of a trajectory that the flow did not name. */
export const defaultTrajectoryName = "agent";

/**
 * Why a rollout ended. `completed`: the flow returned; `env_done`: the environment said so; `error`:
 * every attempt failed; `evaluator_error`: the flow returned but could not be scored; `user_error`: the simulated user failed; `aborted`: cut off
 * because the run stopped. The others mean what they say. A `TerminationEvent` may carry any of them.
 */
export const terminationReasons = [
  "completed",
  "env_done",
  "max_prompt_length_exceeded",
  "max_response_length_exceeded",
  "max_turns_exceeded",
  "timeout",
  "unknown",
  "error",
  "evaluator_error",
  "user_error",
  "aborted",
] as const;
/** Why a rollout ended. */
export type TerminationReason = (typeof terminationReasons)[number];

/** What a rollout said of itself before it was scored: what its evaluator saw and its score replaced. */
export interface ReportedScores {
  /** The program's own score of the whole; null = it gave none. */
  readonly reward: number | null;
  readonly terminationReason: TerminationReason;
  /** In the order of the episode's trajectories. */
  readonly trajectories: readonly {
    readonly reward: number | null;
    readonly signals: Readonly<Record<string, number>>;
    /** Rewards of its steps; null = none was given. */
    readonly steps: readonly (number | null)[];
  }[];
  readonly metrics: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** One attempt at one task, by one run of the agent program. */
export interface Episode {
  /** `{step}/{task id}/{rollout index}`, for people; the fields below are what code reads. */
  readonly id: string;
  readonly task: Task;
  /** From 0 to n-1 among the rollouts of this task in this batch. */
  readonly rolloutIndex: number;
  readonly trajectories: readonly Trajectory[];
  /** What the flow returned, when that was a plain value (a string, a number, an object). */
  readonly output: unknown;
  /** null = not reported. */
  readonly isCorrect: boolean | null;
  /**
   * The evaluator's, or the program's own where `rollout.reward_source` says so or there is no
   * evaluator; `rollout.failure_reward` where the agent failed; null = no score.
   */
  readonly reward: number | null;
  readonly terminationReason: TerminationReason;
  /** Numbers of this episode (`time/...`, signals); averaged into the step's metrics. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Attempts made, from 1. */
  readonly attempts: number;
  /**
   * Model calls that ended in an error or were cut, and that the agent did not repeat with success; absent where
   * there are none. At most 100.
   */
  readonly failedCalls?: readonly FailedCall[];
  /** From its scoring on, so that it can be scored again; absent in older records. */
  readonly reported?: ReportedScores;
  /** What went wrong last, when something did. */
  readonly error?: {
    readonly name: string;
    readonly message: string;
    readonly stack?: string;
    /** Of an `AgentTrainerError`. */
    readonly code?: string;
    readonly hint?: string;
  };
}

/** A named number that an evaluator reports in addition to the reward. */
export interface Signal {
  readonly name: string;
  readonly value: number;
}

/** The full form of an evaluator's result. */
export interface EvalOutput {
  readonly reward: number;
  /** null = derived from the reward: from 1 on correct, up to 0 incorrect, or by `rollout.solved_reward`. */
  readonly isCorrect: boolean | null;
  readonly signals?: readonly Signal[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** One trajectory in a group, with where it came from. */
export interface GroupMember {
  readonly trajectory: Trajectory;
  readonly episode: Episode;
  /** Never null here: trajectories without a reward do not enter a group. */
  readonly reward: number;
  /** [step] added to the reward of each step where steps are compared; `reward` does not contain it. */
  readonly stepShaping?: Float64Array;
}

/** Trajectories that are compared with each other: the same role at the same task. */
export interface TrajectoryGroup {
  /** `{taskId}:{name}`, for people. */
  readonly id: string;
  readonly taskId: string;
  /** The role. */
  readonly name: string;
  readonly members: readonly GroupMember[];
}
