/** Whether a worker may get calls, by how its last ones ended. */

export interface CircuitOptions {
  /** Failures in a row that open it. */
  readonly failuresToOpen: number;
  /** How long it stays open at first; doubled each time a trial fails. */
  readonly reopenAfterMs: number;
}

const maxOpenMs = 60_000;

/** `closed`: all calls pass; `open`: none does; `half-open`: one call tries. */
export type CircuitState = "closed" | "half-open" | "open";

export class Circuit {
  readonly #options: CircuitOptions;
  readonly #now: () => number;
  #failures = 0;
  #openUntil: number | null = null;
  #openMs: number;
  #isTrying = false;

  constructor(options: CircuitOptions, now: () => number = () => performance.now()) {
    this.#options = options;
    this.#openMs = options.reopenAfterMs;
    this.#now = now;
  }

  get state(): CircuitState {
    if (this.#openUntil === null) return "closed";
    return this.#now() < this.#openUntil ? "open" : "half-open";
  }

  /** Whether a call may begin now. */
  get admits(): boolean {
    const { state } = this;
    return state === "closed" || (state === "half-open" && !this.#isTrying);
  }

  /** Milliseconds until a call may try it again. */
  get waitMs(): number {
    return this.#openUntil === null ? 0 : Math.max(0, this.#openUntil - this.#now());
  }

  begin(): void {
    if (this.#openUntil !== null) this.#isTrying = true;
  }

  succeed(): void {
    this.#failures = 0;
    this.#openUntil = null;
    this.#openMs = this.#options.reopenAfterMs;
    this.#isTrying = false;
  }

  fail(): void {
    this.#failures++;
    if (this.#isTrying) this.#openMs = Math.min(maxOpenMs, this.#openMs * 2);
    else if (this.#failures < this.#options.failuresToOpen) return;
    this.#isTrying = false;
    this.#openUntil = this.#now() + this.#openMs;
  }

  /** The call said nothing about the worker. */
  cancel(): void {
    this.#isTrying = false;
  }
}
