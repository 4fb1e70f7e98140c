/** How many calls one session may have running, and how often it may begin one. */
import { ApiError } from "../http/api-error.ts";

export interface CallLimits {
  readonly maxConcurrentCalls: number;
  /** Infinity for no limit. */
  readonly maxCallsPerSecond: number;
}

function refusal(message: string, reason: string, retryAfterS: number): ApiError {
  return new ApiError({ status: 429, message, reason, retryAfterS });
}

/** One session's share. A bucket holds at most one second's worth of calls. */
export class CallLimiter {
  readonly #limits: CallLimits;
  readonly #capacity: number;
  #running = 0;
  #arrived = 0;
  #tokens: number;
  #filledAt: number;

  constructor(limits: CallLimits, now: number = performance.now()) {
    this.#limits = limits;
    this.#capacity = Math.max(1, limits.maxCallsPerSecond);
    this.#tokens = this.#capacity;
    this.#filledAt = now;
  }

  /** Before a request's body is read: bodies take memory, too. `depart` must follow. @throws ApiError 429. */
  arrive(): void {
    this.#check(this.#arrived);
    this.#arrived++;
  }

  /** The response has begun or ended. */
  depart(): void {
    this.#arrived--;
  }

  /** Before a call is dispatched. `leave` must follow. @throws ApiError 429. */
  enter(now: number = performance.now()): void {
    const { maxCallsPerSecond } = this.#limits;
    this.#check(this.#running);
    if (Number.isFinite(maxCallsPerSecond)) this.#take(now, maxCallsPerSecond);
    this.#running++;
  }

  leave(): void {
    this.#running--;
  }

  #check(count: number): void {
    if (count < this.#limits.maxConcurrentCalls) return;
    throw refusal(
      `This session has ${count} calls in flight, which is the most that are allowed.`,
      "concurrency_limit_exceeded",
      1,
    );
  }

  #take(now: number, perSecond: number): void {
    const filled = this.#tokens + ((now - this.#filledAt) / 1000) * perSecond;
    this.#tokens = Math.min(this.#capacity, filled);
    this.#filledAt = now;
    if (this.#tokens < 1) {
      throw refusal(
        `This session makes more than ${perSecond} calls a second.`,
        "rate_limit_exceeded",
        (1 - this.#tokens) / perSecond,
      );
    }
    this.#tokens--;
  }
}
