/** Events of a run: stamped and passed to the run log and the listeners, or as an async iterable. */
import type { TrainerEvent, UnstampedEvent } from "../core/events.ts";
import { redact } from "../util/redact.ts";

export type EventListener = (event: TrainerEvent) => void;
export type Emit = (step: number, body: UnstampedEvent) => void;

/** Messages quote options and what servers said. */
function withoutKeys(body: UnstampedEvent): UnstampedEvent {
  if (!("message" in body) || typeof body.message !== "string") return body;
  return { ...body, message: redact(body.message) };
}

/**
 * A listener that throws must not fail the run: its first error becomes a warning event, and that
 * listener is not called again.
 */
export function createEmitter(write: EventListener, listeners: readonly EventListener[]): Emit {
  const active = new Set(listeners);
  const emit: Emit = (step, body) => {
    const event = { ...withoutKeys(body), step, time: Date.now() } as TrainerEvent;
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

/**
 * Starts the run when the first event is requested. Leaving the loop aborts the run and waits for it;
 * a run that fails throws out of the loop after its last event.
 */
export async function* streamEvents(
  run: (onEvent: EventListener, signal: AbortSignal) => Promise<unknown>,
): AsyncGenerator<TrainerEvent, void, undefined> {
  const controller = new AbortController();
  const waiting: TrainerEvent[] = [];
  let wake = (): void => {};
  let isOver = false;
  const work = run((event) => {
    waiting.push(event);
    wake();
  }, controller.signal).finally(() => {
    isOver = true;
    wake();
  });
  // Awaited below; until then a failure must not count as unhandled.
  work.catch(() => {});
  try {
    while (true) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (isOver) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    await work;
  } finally {
    controller.abort();
    await work.catch(() => {});
  }
}
