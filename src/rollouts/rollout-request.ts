/** What a rollout is given: its task and seed, time limits and retries, and how its failures count. */
import type { Task } from "../core/task.ts";

/** The request for one rollout. */
export interface RolloutRequest<Metadata = Record<string, unknown>> {
  readonly task: Task<Metadata>;
  /** Index from 0 to n-1 among the rollouts of this task in this batch. */
  readonly rolloutIndex: number;
  /** Becomes `episode.id`; unique within the run. */
  readonly episodeId: string;
  /** The seed of each attempt's session is derived from it. */
  readonly seed: number;
}

/** Concurrency, time limits and retries. */
export interface RolloutLimits {
  /** Rollouts running at the same time. At least 1. @default 64 */
  readonly concurrency: number;
  /** Limit in milliseconds for the setup hook of an attempt. @default 300_000 */
  readonly setUpTimeoutMs: number;
  /**
   * Limit in milliseconds for a whole attempt: session, flow and collecting its calls. @default
   * 600_000
   */
  readonly timeoutMs: number;
  /** Limit in milliseconds for the evaluator of one episode. @default 60_000 */
  readonly evaluatorTimeoutMs: number;
  /** Limit in milliseconds for the teardown of what a setup created. @default 60_000 */
  readonly tearDownTimeoutMs: number;
  /** Further attempts after one that failed or timed out. @default 2 */
  readonly retries: number;
  /** Milliseconds before the second attempt; doubled for each further one. @default 100 */
  readonly retryDelayMs: number;
}

export const defaultRolloutLimits: RolloutLimits = {
  concurrency: 64,
  setUpTimeoutMs: 300_000,
  timeoutMs: 600_000,
  evaluatorTimeoutMs: 60_000,
  tearDownTimeoutMs: 60_000,
  retries: 2,
  retryDelayMs: 100,
};

/** How a rollout that failed because of the agent is treated. */
export interface FailurePolicy {
  /** Its reward. */
  readonly reward: number;
  /** Retries it with fresh samples instead; it has no score if that does not help. */
  readonly retriesAgent: boolean;
}

export const defaultFailurePolicy: FailurePolicy = { reward: 0, retriesAgent: false };
