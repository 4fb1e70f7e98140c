/** What receives a run's numbers and events besides its folder: TensorBoard, a server, your own code. */
import type { TrainerEvent, TrainerEventType } from "./events.ts";

/**
 * Follows one run. Events arrive in order, one at a time, apart from the run: a tracker that is slow,
 * throws or hangs never delays the run. The first call that fails or takes longer than
 * `tracking.timeout_s` becomes a warning of the run, and the tracker receives nothing further but
 * `close`.
 */
export interface Tracker {
  /** Names it in warnings. */
  readonly name: string;
  /** Types of the events that it receives. `run-end` is always the last one, also of a failed run. */
  readonly events: readonly TrainerEventType[];
  /** @param signal Aborts when the time for this call is over. */
  track(event: TrainerEvent, signal: AbortSignal): void | Promise<void>;
  /** After the last event, or after a failure: writes what is left, and closes. */
  close?(signal: AbortSignal): void | Promise<void>;
}

/** What a tracker is told about the run when it is created. */
export interface TrackedRun {
  /** Groups runs: `tracking.project`. */
  readonly project: string;
  /** Every option by its dotted name, without secrets. */
  readonly config: Readonly<Record<string, unknown>>;
}
