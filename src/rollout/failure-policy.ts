/** What is done about a rollout that the agent made fail. */

export interface FailurePolicy {
  /** What it is scored with. */
  readonly reward: number;
  /** It is tried again with fresh samples instead, and has no score if that does not help. */
  readonly retriesAgent: boolean;
}

export const defaultFailurePolicy: FailurePolicy = { reward: 0, retriesAgent: false };
