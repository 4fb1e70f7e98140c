/** Waiting with an AbortSignal; listeners are removed when the wait ends. */

import { setMaxListeners } from "node:events";

/**
 * Calls `listener` once, when the signal aborts. One signal ends any number of waits, of which Node would warn as
 * of a leak from the eleventh on.
 */
export function listenToAbort(signal: AbortSignal, listener: () => void): void {
  setMaxListeners(0, signal);
  signal.addEventListener("abort", listener, { once: true });
}

/** A longer timer of Node would end at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Resolves after `ms`, at most 24 days, or rejects with the signal's reason. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      },
      Math.min(ms, longestTimerMs),
    );
    if (signal !== undefined) listenToAbort(signal, onAbort);
  });
}

/** Aborts with `signal`, or after `ms` with a TimeoutError. */
export function withTimeout(signal: AbortSignal | undefined, ms: number): AbortSignal {
  const timeout = AbortSignal.timeout(Math.min(ms, longestTimerMs));
  if (signal === undefined) return timeout;
  // Node 20 collects a timeout that only `any` refers to, and then it never ends anything.
  timeout.addEventListener("abort", () => {}, { once: true });
  return AbortSignal.any([signal, timeout]);
}

/**
 * `work`, but rejecting with the signal's reason as soon as it aborts. The work itself continues unless
 * it watches the signal too; its late result or rejection is dropped.
 */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason);
    };
    const done = (): void => {
      signal.removeEventListener("abort", onAbort);
    };
    if (signal.aborted) onAbort();
    else listenToAbort(signal, onAbort);
    work.then(
      (value) => {
        done();
        resolve(value);
      },
      (error: unknown) => {
        done();
        reject(error);
      },
    );
  });
}
