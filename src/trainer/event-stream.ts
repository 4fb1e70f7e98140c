/** A run as an async iterable of its events. */
import type { TrainerEvent } from "../core/events.ts";
import type { EventListener } from "./emitter.ts";

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
