/** Events that rollouts give off. The trainer stamps them with its step and the time. */
import type { UnstampedEvent } from "../core/events.ts";

/**
 * `rollout-retry`: an attempt failed (its number, from 1) and another one follows. `evaluator-error`
 * comes before the `rollout-end` of its episode. `warning`: a session could not be closed.
 */
export type RolloutEvent = Extract<
  UnstampedEvent,
  { readonly type: "rollout-end" | "rollout-retry" | "evaluator-error" | "warning" }
>;
