/** A signal that aborts when time runs out or its parent aborts, whichever comes first. */
import { listenToAbort } from "../util/abort.ts";
import { DeadlineError } from "./errors.ts";

/** Longer timers fire at once in Node. */
const maxTimerMs = 2 ** 31 - 1;

export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether time ran out; false when something else aborted the signal first. */
  hasPassed(): boolean;
  abort(reason: unknown): void;
  /** Gives the whole time again. */
  restart(): void;
  /** Clears the timer and detaches from the parent; the signal stays as it is. */
  dispose(): void;
}

/** `what`: the signal's reason, or the operation that a DeadlineError names. */
export function startDeadline(
  what: string | Error,
  limitMs: number,
  parent?: AbortSignal,
): Deadline {
  const controller = new AbortController();
  let passed = false;
  const expire = (): void => {
    passed = !controller.signal.aborted;
    controller.abort(typeof what === "string" ? new DeadlineError(what, limitMs) : what);
  };
  const follow = (): void => {
    controller.abort(parent?.reason);
  };
  const start = (): NodeJS.Timeout | undefined =>
    limitMs > maxTimerMs ? undefined : setTimeout(expire, limitMs);
  let timer = start();
  if (parent?.aborted) follow();
  if (parent !== undefined) listenToAbort(parent, follow);
  return {
    signal: controller.signal,
    hasPassed: () => passed,
    abort: (reason) => {
      controller.abort(reason);
    },
    restart: () => {
      clearTimeout(timer);
      timer = start();
    },
    dispose: () => {
      clearTimeout(timer);
      parent?.removeEventListener("abort", follow);
    },
  };
}
