/** Trying again: how long to wait, and the loop for work that returns or throws. */
import { delay } from "./abort.ts";

export interface BackOff {
  /** Wait after the first failure; doubled after each further one. */
  readonly firstMs: number;
  /** @default Infinity */
  readonly maxMs?: number;
  /**
   * Largest random fraction to wait less, so that what failed together does not come back together.
   * @default 0
   */
  readonly jitter?: number;
  /** @default Math.random */
  readonly random?: () => number;
}

/** Exponential back-off after `failures`, at least 1. */
export function backOffMs(failures: number, options: BackOff): number {
  const { firstMs, maxMs = Infinity, jitter = 0, random = Math.random } = options;
  return Math.min(firstMs * 2 ** (failures - 1), maxMs) * (1 - jitter * random());
}

/** Who asks for a longer wait is asked again after this one. */
const longestAskedMs = 600_000;

/**
 * The `Retry-After` header, seconds or a date, in milliseconds from now, at most `maxMs` (10 minutes);
 * undefined when there is none or it cannot be read.
 */
export function readRetryAfterMs(
  value: string | null | undefined,
  nowMs: number = Date.now(),
  maxMs: number = longestAskedMs,
): number | undefined {
  if (value === undefined || value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - nowMs : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), maxMs);
}

export interface RetryOptions {
  /**
   * Milliseconds until the next try, after `failures` of them; null for none. May throw what is to be
   * thrown instead of `error`.
   */
  readonly waitMs: (error: unknown, failures: number) => number | null;
  /** Ends the waits; a failure after an abort is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Calls `attempt` until it returns, or fails in a way that is not tried again. */
export async function retry<T>(
  attempt: () => Promise<T>,
  { waitMs, signal }: RetryOptions,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      const wait = waitMs(error, failures);
      if (wait === null) throw error;
      await delay(wait, signal);
    }
  }
}
