/**
 * Where requests run: on this thread while there are few, which responds soonest; beyond that, half of
 * the work of a call moves to another thread, which lets more through.
 */
import { availableParallelism } from "node:os";
import type { ResponseChunk } from "../adapters/response-part.ts";
import type { Worker } from "../pool/worker.ts";
import { type WorkerRequest, runRequest, type UpstreamRequestOptions } from "./upstream-request.ts";
import { RequestThread } from "./request-thread.ts";

/** Fewer calls than this in flight are no load. */
export const defaultOffloadFrom: number = availableParallelism() > 1 ? 8 : Infinity;

export class UpstreamRequests {
  readonly #offloadFrom: number;
  readonly #thread: RequestThread;
  #inFlight = 0;

  /** `offloadFrom`: requests in flight from which the next one runs on the other thread. */
  constructor(offloadFrom: number, report: (error: unknown) => void) {
    this.#offloadFrom = offloadFrom;
    this.#thread = new RequestThread(report);
  }

  /** Yields and throws as `runRequest` does. */
  async *run(
    { connection }: Worker,
    request: WorkerRequest,
    options: UpstreamRequestOptions,
  ): AsyncGenerator<readonly ResponseChunk[], void, undefined> {
    const isOffloaded = this.#inFlight >= this.#offloadFrom && this.#thread.isUsable;
    this.#inFlight++;
    try {
      yield* isOffloaded
        ? this.#thread.run(connection, request, options)
        : runRequest(connection, request, options);
    } finally {
      this.#inFlight--;
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
