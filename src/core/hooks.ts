/** Setup before each rollout, and teardown after it. */
import type { Evaluator } from "./agent.ts";
import type { EnvironmentEpisode } from "./environment.ts";
import type { Task } from "./task.ts";

/** Which attempt a setup is for. */
export interface SetUpInfo {
  /** Id of the rollout. */
  readonly episodeId: string;
  /** From 1. Setup runs again for each attempt. */
  readonly attempt: number;
  /** Whether the rollout belongs to a validation. */
  readonly isValidation: boolean;
  /** Aborted at the deadline of the setup and when the run stops. */
  readonly signal: AbortSignal;
}

/** What a setup returned. */
export interface TaskSetup<Metadata = Record<string, unknown>> {
  /** Passed to the agent as `config.env`: a sandbox, a database, a browser ... */
  readonly env?: unknown;
  /** Passed to the agent as `config.environment`: the episode of an environment with tools. */
  readonly environment?: EnvironmentEpisode;
  /** Scores this rollout in place of the run's evaluator. */
  readonly evaluator?: Evaluator<Metadata>;
  /** Always called once, even for a setup that finished too late. Has a separate deadline. */
  readonly tearDown?: () => unknown;
}

/** Called around each attempt at a task. A setup that throws or times out fails the attempt. */
export interface TaskHooks<Metadata = Record<string, unknown>> {
  setUp(
    task: Task<Metadata>,
    info: SetUpInfo,
  ): TaskSetup<Metadata> | undefined | void | Promise<TaskSetup<Metadata> | undefined | void>;
}
