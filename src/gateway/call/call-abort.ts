/** Why and when a model call ends early. Knows neither the target nor the client. */
import { AgentTrainerError, DeadlineError } from "../../core/errors.ts";
import { listenToAbort, raceAbort } from "../../util/abort.ts";

/** `stop`: every choice met a stop string. */
export type AbortCause = "client" | "closed" | "deadline" | "stop";

/** A sampler that ignores its signal for this long is abandoned. */
const graceMs = 5_000;

export class CallAbort {
  readonly #signal = new AbortController();
  /** Ends the wait itself. */
  readonly #wait = new AbortController();
  readonly #limitMs: number;
  #endsAt: number;
  #deadline: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #cause: AbortCause | null = null;
  #disposed = false;
  #unfollow: (() => void) | undefined;

  /** The deadline is set by `start`. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#endsAt = performance.now() + limitMs;
  }

  /** The call begins, and its time with it. */
  start(): void {
    this.#endsAt = performance.now() + this.#limitMs;
    this.#deadline = setTimeout(() => {
      this.abort("deadline");
    }, this.#limitMs);
  }

  /** `work` before the call begins, which has as much time as the call. */
  async before<T>(work: Promise<T>): Promise<T> {
    this.start();
    try {
      return await this.wait(work);
    } finally {
      clearTimeout(this.#deadline);
    }
  }

  /** For the sampler. */
  get signal(): AbortSignal {
    return this.#signal.signal;
  }

  /** The first cause; null while nothing ended the call early. */
  get cause(): AbortCause | null {
    return this.#cause;
  }

  /** Milliseconds until the deadline. */
  get remainingMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  abort(cause: AbortCause): void {
    if (this.#disposed) return;
    // A stop string is no reason to outlive the deadline or the client.
    if (this.#cause !== null && this.#cause !== "stop") return;
    this.#cause = cause;
    if (cause === "deadline") this.#wait.abort(this.error());
    else if (cause !== "stop") {
      this.#grace = setTimeout(() => {
        this.#wait.abort(this.error());
      }, graceMs);
    }
    this.#signal.abort(this.error());
  }

  /**
   * Takes an abort of `owner.signal` as the client's. The owner is referenced as well as the signal, because a
   * Request that has been collected no longer passes its client's abort on.
   */
  followClient(owner: { readonly signal: AbortSignal }): void {
    const onAbort = (): void => {
      this.abort("client");
    };
    if (owner.signal.aborted) {
      onAbort();
      return;
    }
    listenToAbort(owner.signal, onAbort);
    this.#unfollow = () => {
      owner.signal.removeEventListener("abort", onAbort);
    };
  }

  /** `work`, or the error of the abort when the work does not end after it. */
  wait<T>(work: Promise<T>): Promise<T> {
    return raceAbort(work, this.#wait.signal);
  }

  error(): AgentTrainerError {
    if (this.#cause === "deadline") return new DeadlineError("The model call", this.#limitMs);
    const why =
      this.#cause === "client"
        ? "the client disconnected"
        : this.#cause === "closed"
          ? "its session was closed"
          : "it is complete";
    return new AgentTrainerError({
      code: "ABORTED",
      message: `The model call was aborted because ${why}.`,
    });
  }

  /** The call has ended: no timer is left, and later aborts mean nothing. */
  dispose(): void {
    this.#disposed = true;
    this.#unfollow?.();
    clearTimeout(this.#deadline);
    clearTimeout(this.#grace);
  }
}
