/**
 * Training requests of one model leave in the order in which they were made, one after the other, with
 * numbers that have no gap. A number is taken when its turn has come, so that a call that is cancelled
 * before does not leave one behind.
 */
import { raceAbort } from "../../util/abort.ts";
import { isRefusal } from "./transport.ts";

export class SubmissionQueue {
  readonly #lostError: (cause: unknown) => Error;
  #next = 1;
  #tail: Promise<unknown> = Promise.resolve();
  #lost: unknown;

  /** @param lostError made once a request was lost. */
  constructor(lostError: (cause: unknown) => Error) {
    this.#lostError = lostError;
  }

  /**
   * Runs `submit` in its turn, which lasts until the server has taken the request.
   * @param submit gets its number; when it fails, whether the server has the request is unknown, unless
   * the server refused it, which leaves the number free.
   * @throws what `lostError` makes after a request was lost.
   */
  submit<T>(submit: (seqId: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const turn = this.#tail.then(async () => {
      signal?.throwIfAborted();
      if (this.#lost !== undefined) throw this.#lostError(this.#lost);
      const seqId = this.#next;
      try {
        const result = await submit(seqId);
        this.#next += 1;
        return result;
      } catch (error) {
        if (!isRefusal(error)) this.#lost = error;
        throw error;
      }
    });
    this.#tail = turn.catch(() => undefined);
    // A caller that stops waiting does not stop a request that is on its way.
    return signal === undefined ? turn : raceAbort(turn, signal);
  }
}
