/**
 * Where exchanges run: on this thread while there are few, which answers soonest; beyond that, half of
 * the work of a call moves to another thread, which lets more through. Knows no wire format.
 */
import { availableParallelism } from "node:os";
import type { AnswerPiece } from "../response-part.ts";
import type { Worker } from "../worker.ts";
import type { Ask } from "./worker-request.ts";
import { exchange, type ExchangeOptions } from "./upstream-request.ts";
import { ExchangeThread } from "./request-thread.ts";

/** Fewer calls than this in flight are no load. */
export const defaultOffloadFrom: number = availableParallelism() > 1 ? 8 : Infinity;

export class Exchanges {
  readonly #offloadFrom: number;
  readonly #thread: ExchangeThread;
  #inFlight = 0;

  /** `offloadFrom`: exchanges in flight from which the next one runs on the other thread. */
  constructor(offloadFrom: number, report: (error: unknown) => void) {
    this.#offloadFrom = offloadFrom;
    this.#thread = new ExchangeThread(report);
  }

  /** As `exchange` gives and throws. */
  async *run(
    { connection }: Worker,
    ask: Ask,
    options: ExchangeOptions,
  ): AsyncGenerator<readonly AnswerPiece[], void, undefined> {
    const isOffloaded = this.#inFlight >= this.#offloadFrom && this.#thread.isUsable;
    this.#inFlight++;
    try {
      yield* isOffloaded
        ? this.#thread.run(connection, ask, options)
        : exchange(connection, ask, options);
    } finally {
      this.#inFlight--;
    }
  }

  /** For a worker that is gone. */
  forget({ connection }: Worker): void {
    this.#thread.forget(connection);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
