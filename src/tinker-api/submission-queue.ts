/**
 * Training requests of one model leave in the order in which they were made, one after the other, with
 * numbers that have no gap. A number is taken when its turn has come, so that a call that is cancelled
 * before does not leave one behind.
 */
import { raceAbort } from "../util/abort.ts";
import { TinkerModelLostError } from "./tinker-error.ts";

export class SubmissionQueue {
  readonly #lostError: (cause: unknown) => Error;
  #next = 1;
  #tail: Promise<unknown> = Promise.resolve();
  #lost: unknown;

  /** @param lost makes the error after a request was lost. @default TinkerModelLostError */
  constructor(modelId: string, lost?: (cause: unknown) => Error) {
    this.#lostError = lost ?? ((cause) => new TinkerModelLostError(modelId, cause));
  }

  /**
   * Runs `submit` in its turn, which lasts until the server has taken the request.
   * @param submit gets its number; when it fails, whether the server has the request is unknown, unless
   * `isRefusal` says that the server refused it, which leaves the number free.
   * @throws TinkerModelLostError after a request was lost.
   */
  submit<T>(
    submit: (seqId: number) => Promise<T>,
    isRefusal: (error: unknown) => boolean,
    signal?: AbortSignal,
  ): Promise<T> {
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
