/** Stamps events with time and step and passes them to the run log and to the user's listeners. */
import type { TrainerEvent, UnstampedEvent } from "../core/events.ts";

export type EventListener = (event: TrainerEvent) => void;
export type Emit = (step: number, body: UnstampedEvent) => void;

/**
 * A listener that throws must not fail the run: its first error becomes a warning event, and that
 * listener is not called again.
 */
export function createEmitter(write: EventListener, listeners: readonly EventListener[]): Emit {
  const active = new Set(listeners);
  const emit: Emit = (step, body) => {
    const event = { ...body, step, time: Date.now() } as TrainerEvent;
    write(event);
    for (const listener of active) {
      try {
        listener(event);
      } catch (error) {
        active.delete(listener);
        emit(step, {
          type: "warning",
          message: `An event listener threw and will not be called again: ${String(error)}`,
        });
      }
    }
  };
  return emit;
}
