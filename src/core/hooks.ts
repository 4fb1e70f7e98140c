/** What can be prepared for each rollout, and cleared away after it. */
import type { Evaluator } from "./agent.ts";
import type { Task } from "./task.ts";

/** Which attempt a set-up is for. */
export interface SetUpInfo {
  readonly episodeId: string;
  /** From 1. Each attempt is set up anew. */
  readonly attempt: number;
  readonly isValidation: boolean;
  /** Aborted at the deadline of the set-up and when the run stops. */
  readonly signal: AbortSignal;
}

/** What a set-up made. */
export interface TaskSetup<Metadata = Record<string, unknown>> {
  /** Handed to the agent as `config.env`: a sandbox, a data base, a browser ... */
  readonly env?: unknown;
  /** Scores this rollout in place of the common evaluator. */
  readonly evaluator?: Evaluator<Metadata>;
  /** Called once in every case, also for a set-up that came too late. Has a deadline of its own. */
  readonly tearDown?: () => unknown;
}

/** Called around each attempt at a task. A set-up that throws or is late fails the attempt. */
export interface TaskHooks<Metadata = Record<string, unknown>> {
  setUp(
    task: Task<Metadata>,
    info: SetUpInfo,
  ): TaskSetup<Metadata> | undefined | void | Promise<TaskSetup<Metadata> | undefined | void>;
}
