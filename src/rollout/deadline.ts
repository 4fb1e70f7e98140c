/** A signal that aborts when time runs out or its parent aborts, whichever comes first. */
import { DeadlineError } from "../core/errors.ts";

/** Longer timers fire at once in Node. */
const maxTimerMs = 2 ** 31 - 1;

export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether time ran out; false when something else aborted the signal first. */
  hasPassed(): boolean;
  abort(reason: unknown): void;
  /** Clears the timer and detaches from the parent; the signal stays as it is. */
  dispose(): void;
}

/** `what` names the operation in the DeadlineError that becomes the signal's reason. */
export function startDeadline(what: string, limitMs: number, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  let passed = false;
  const expire = (): void => {
    passed = !controller.signal.aborted;
    controller.abort(new DeadlineError(what, limitMs));
  };
  const follow = (): void => {
    controller.abort(parent?.reason);
  };
  const timer = limitMs > maxTimerMs ? undefined : setTimeout(expire, limitMs);
  if (parent?.aborted) follow();
  parent?.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    hasPassed: () => passed,
    abort: (reason) => {
      controller.abort(reason);
    },
    dispose: () => {
      clearTimeout(timer);
      parent?.removeEventListener("abort", follow);
    },
  };
}
