/** Models that another one has taken the place of: their calls in flight finish first. */
import type { ModelHost } from "./model-host.ts";

/** How long these calls may take; then they are cut off. */
const leaveMs = 60_000;

export class LeavingHosts {
  readonly #leaving = new Set<Promise<void>>();
  readonly #onError: ((error: unknown) => void) | undefined;

  constructor(onError?: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(host: ModelHost): void {
    const gone = host
      .drain(leaveMs)
      .then(() => host[Symbol.asyncDispose]())
      .catch((error: unknown) => this.#onError?.(error))
      .finally(() => this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }

  /** Resolves when all are gone. */
  async gone(): Promise<void> {
    await Promise.all(this.#leaving);
  }
}
