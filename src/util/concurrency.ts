/** Many async jobs, a few at a time. */
import { listenToAbort } from "./abort.ts";

/**
 * Runs `work` on every item, at most `limit` at once, and returns the results in the order of the
 * items. The first failure, or `signal`, aborts the signals of all running jobs and starts no more;
 * the promise rejects with that failure (or the signal's reason) once every started job has settled.
 *
 * Each job gets a separate signal, so `signal` carries one listener however many jobs there are.
 *
 * @throws RangeError when `limit` is not a positive integer.
 */
export async function mapConcurrent<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number, signal: AbortSignal) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  if (!Number.isInteger(limit) || limit < 1) {
    throw new RangeError(`limit must be a positive integer, got ${limit}.`);
  }
  const running = new Set<AbortController>();
  const results: R[] = [];
  const halt = new AbortController();
  let next = 0;

  const fail = (reason: unknown): void => {
    if (halt.signal.aborted) return;
    halt.abort(reason);
    for (const controller of running) controller.abort(reason);
  };
  const onAbort = (): void => {
    fail(signal?.reason);
  };
  const runNext = async (): Promise<void> => {
    while (!halt.signal.aborted && next < items.length) {
      const index = next++;
      const controller = new AbortController();
      running.add(controller);
      try {
        results[index] = await work(items[index] as T, index, controller.signal);
      } catch (error) {
        fail(error);
      } finally {
        running.delete(controller);
      }
    }
  };

  if (signal?.aborted) onAbort();
  if (signal !== undefined) listenToAbort(signal, onAbort);
  try {
    await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runNext));
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
  halt.signal.throwIfAborted();
  return results;
}
