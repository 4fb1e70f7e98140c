/** Events that rollouts give off. The trainer stamps them with its step and the time. */
import type { TrainerEvent } from "../core/events.ts";

type WithoutStamp<Event> = Event extends unknown ? Omit<Event, "step" | "time"> : never;

/** Any trainer event before it is stamped: `{ ...event, step, time }` is a `TrainerEvent`. */
export type UnstampedEvent = WithoutStamp<TrainerEvent>;

/**
 * `rollout-retry`: an attempt failed (its number, from 1) and another one follows. `evaluator-error`
 * comes before the `rollout-end` of its episode. `warning`: a session could not be closed.
 */
export type RolloutEvent = Extract<
  UnstampedEvent,
  { readonly type: "rollout-end" | "rollout-retry" | "evaluator-error" | "warning" }
>;
