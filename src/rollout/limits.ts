/** What a rollout may cost. */

export interface RolloutLimits {
  /** Rollouts under way at once. At least 1. @default 64 */
  readonly concurrency: number;
  /** Milliseconds for the set-up hook of an attempt. @default 300_000 */
  readonly setUpTimeoutMs: number;
  /** Milliseconds for a whole attempt: session, flow and collecting its calls. @default 600_000 */
  readonly timeoutMs: number;
  /** Milliseconds for the evaluator of one episode. @default 60_000 */
  readonly evaluatorTimeoutMs: number;
  /** Milliseconds for clearing away what a set-up made. @default 60_000 */
  readonly tearDownTimeoutMs: number;
  /** Further attempts after a failed or late one. @default 2 */
  readonly retries: number;
  /** Milliseconds before the second attempt; doubled each time. @default 100 */
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
