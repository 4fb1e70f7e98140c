/** How many calls one session may have running. */
import { ApiError } from "../http/api-error.ts";

const maxConcurrentCalls = 1024;

/** @throws ApiError 429 */
function check(count: number): void {
  if (count < maxConcurrentCalls) return;
  throw new ApiError({
    status: 429,
    message: `This session has ${count} calls in flight, which is the most that are allowed.`,
    reason: "concurrency_limit_exceeded",
    retryAfterS: 1,
  });
}

/** One session's share. */
export class CallLimiter {
  #running = 0;
  #arrived = 0;

  /** Before a request's body is read: bodies take memory, too. `depart` must follow. @throws ApiError 429. */
  arrive(): void {
    check(this.#arrived);
    this.#arrived++;
  }

  /** The response has begun or ended. */
  depart(): void {
    this.#arrived--;
  }

  /** Before a call is dispatched. `leave` must follow. @throws ApiError 429. */
  enter(): void {
    check(this.#running);
    this.#running++;
  }

  leave(): void {
    this.#running--;
  }
}
