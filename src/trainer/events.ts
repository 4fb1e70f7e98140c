/** Events of a run: stamped and passed to the run log and the listeners, or as an async iterable. */
import type { TrainerEvent, UnstampedEvent } from "../core/events.ts";
import type { Tracker } from "../core/tracker.ts";
import { type Followers, followRun } from "../trackers/follow-run.ts";
import { redact } from "../util/redact.ts";

export type EventListener = (event: TrainerEvent) => void;
export type Emit = (step: number, body: UnstampedEvent) => void;
/** Says something about the step that the run is in, unless the same key was said before. @default "warning" */
export type WarnOnce = (key: string, message: string, type?: "warning" | "notice") => void;

/** Messages quote options and what servers said. */
function withoutKeys(body: UnstampedEvent): UnstampedEvent {
  if (!("message" in body) || typeof body.message !== "string") return body;
  return { ...body, message: redact(body.message) };
}

/**
 * A listener that throws must not fail the run: its first error becomes a warning event, and that
 * listener is not called again.
 */
function createEmitter(write: EventListener, listeners: readonly EventListener[]): Emit {
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

/** How a run ended. */
export type RunEnd = Pick<Extract<UnstampedEvent, { type: "run-end" }>, "status" | "message">;

export interface RunEventsOptions {
  /** Writes to the run log. */
  readonly write: EventListener;
  readonly listeners: readonly EventListener[];
  readonly trackers: readonly Tracker[];
  /** Milliseconds for one call of a tracker. */
  readonly trackerTimeoutMs: number;
  /** That the run begins after. */
  readonly step: number;
}

/** The events of one run, and the step that it is in. */
export class RunEvents {
  readonly #write: Emit;
  readonly #followers: Followers;
  readonly #said = new Set<string>();
  /** That the run is in. */
  step: number;

  constructor({ write, listeners, trackers, trackerTimeoutMs, step }: RunEventsOptions) {
    this.step = step;
    this.#followers = followRun(trackers, { timeoutMs: trackerTimeoutMs, warn: this.warn });
    this.#write = createEmitter(write, [...listeners, this.#followers.track]);
  }

  readonly emit: Emit = (step, body) => {
    this.step = step;
    this.#write(step, body);
  };

  readonly warn = (message: string): void => this.emit(this.step, { type: "warning", message });

  readonly warnOnce: WarnOnce = (key, message, type = "warning") => {
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.emit(this.step, { type, message });
  };

  /** The last event, where nothing can be waited for. */
  endNow({ status, message }: RunEnd): void {
    this.emit(this.step, { type: "run-end", status, message });
  }

  /** Trackers are told before the run log, whose last event is the end. */
  async end({ status, message }: RunEnd): Promise<void> {
    const event = { type: "run-end", status, message, step: this.step, time: Date.now() } as const;
    await this.#followers.end(event);
    this.endNow({ status, message });
  }
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
