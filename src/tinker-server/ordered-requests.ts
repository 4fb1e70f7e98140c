/**
 * The requests of one model: executed one at a time, in the order of their numbers. A number that came
 * before is the same request again and gets the same future; one that skips ahead waits for those
 * between.
 */
import { RequestError } from "./request-error.ts";

interface Known {
  readonly fingerprint: string;
  readonly future: string;
}

export interface OrderedRequestsOptions {
  /** Longest wait for a number that was skipped. */
  readonly gapMs: number;
}

export class OrderedRequests {
  readonly #options: OrderedRequestsOptions;
  readonly #known = new Map<number, Known>();
  readonly #waiting = new Map<number, () => void>();
  #next = 1;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: OrderedRequestsOptions) {
    this.#options = options;
  }

  /**
   * @param fingerprint equal for equal requests.
   * @param start gives the work to whoever holds futures, and returns the future's id.
   * @throws RequestError 409 when the number was used for something else.
   */
  submit(
    seqId: number | null,
    fingerprint: string,
    work: () => Promise<unknown>,
    start: (running: Promise<unknown>) => string,
  ): string {
    if (seqId === null) return start(this.#enqueue(work));
    const before = this.#known.get(seqId);
    if (before !== undefined) {
      if (before.fingerprint === fingerprint) return before.future;
      throw new RequestError(409, `The sequence number ${seqId} was used for another request.`);
    }
    if (seqId < this.#next)
      throw new RequestError(409, `The sequence number ${seqId} is past; ${this.#next} is next.`);
    const future = start(this.#turn(seqId).then(() => this.#takeTurn(seqId, work)));
    this.#known.set(seqId, { fingerprint, future });
    return future;
  }

  async #turn(seqId: number): Promise<void> {
    if (seqId === this.#next) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(seqId);
        const missing = `sequence number ${this.#next} did not come within ${this.#options.gapMs} ms`;
        reject(new RequestError(400, `Request ${seqId} was not run, because ${missing}.`));
      }, this.#options.gapMs);
      this.#waiting.set(seqId, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #takeTurn(seqId: number, work: () => Promise<unknown>): Promise<unknown> {
    const running = this.#enqueue(work);
    this.#next = seqId + 1;
    const follower = this.#waiting.get(this.#next);
    this.#waiting.delete(this.#next);
    follower?.();
    return running;
  }

  #enqueue(work: () => Promise<unknown>): Promise<unknown> {
    const running = this.#tail.then(work);
    this.#tail = running.catch(() => undefined);
    return running;
  }
}
