/** Events that rollouts emit. The trainer stamps them with its step and the time. */
import type { UnstampedEvent } from "../core/events.ts";

/**
 * `rollout-retry`: an attempt (numbered from 1) failed and another one follows. `evaluator-error`
 * precedes the `rollout-end` of its episode. `warning`: a session could not be closed.
 */
export type RolloutEvent = Extract<
  UnstampedEvent,
  { readonly type: "rollout-end" | "rollout-retry" | "evaluator-error" | "warning" }
>;
