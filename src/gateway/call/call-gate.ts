/**
 * Whether calls may begin: paused around weight updates, and when the gateway shuts down. Also the
 * version of the weights, where only the trainer knows it.
 */
import { listenToAbort } from "../../util/abort.ts";
import { ApiError } from "../http/api-error.ts";

/** `hold`: calls wait for `resume`; `refuse`: they get a 503 with Retry-After. */
export type PauseMode = "hold" | "refuse";

const retryAfterS = 1;
/** Waiting calls hold connections and memory. */
const maxWaiting = 20_000;

function paused(): ApiError {
  return new ApiError({
    status: 503,
    message: "The gateway is paused, as it is during a weight sync.",
    reason: "paused",
    retryAfterS,
  });
}

export class CallGate {
  /** As set by the trainer; null until it is. */
  weightVersion: number | null = null;
  #mode: PauseMode | null = null;
  #waiting = new Set<() => void>();

  get paused(): PauseMode | null {
    return this.#mode;
  }

  /** Calls that wait for `resume`. */
  get waiting(): number {
    return this.#waiting.size;
  }

  pause(mode: PauseMode): void {
    this.#mode = mode;
    // Waiting calls wake up when waiting is no longer offered.
    if (mode === "refuse") this.#wake();
  }

  resume(): void {
    this.#mode = null;
    this.#wake();
  }

  /** Resolves when the call may begin. @throws ApiError 503 when it may not within `limitMs`. */
  async admit(limitMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (this.#mode !== null) {
      const left = deadline - performance.now();
      if (this.#mode === "refuse" || left <= 0 || signal.aborted || this.waiting >= maxWaiting) {
        throw paused();
      }
      await this.#wait(left, signal);
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #wait(limitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, limitMs);
      listenToAbort(signal, wake);
      this.#waiting.add(wake);
    });
  }
}
