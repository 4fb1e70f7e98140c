/** How a rollout that failed because of the agent is treated. */

export interface FailurePolicy {
  /** Its reward. */
  readonly reward: number;
  /** Retries it with fresh samples instead; it has no score if that does not help. */
  readonly retriesAgent: boolean;
}

export const defaultFailurePolicy: FailurePolicy = { reward: 0, retriesAgent: false };
