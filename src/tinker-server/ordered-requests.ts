/**
 * The requests of one model: executed one at a time, in the order of their numbers. A number that came
 * before is the same request again and gets the same future; one that skips ahead waits for those
 * between, and fails when they do not come: what follows continues without them.
 */
import { RequestError } from "./request-error.ts";

interface Known {
  readonly fingerprint: string;
  readonly future: string;
}

interface Waiting {
  readonly start: () => void;
  readonly fail: (error: RequestError) => void;
  readonly timer: NodeJS.Timeout;
}

export interface OrderedRequestsOptions {
  /** Longest wait for a number that was skipped. */
  readonly gapMs: number;
  /** Called, in order, for requests that never came, and for the one that failed for it. @default nothing */
  readonly onLost?: (error: RequestError, future: string) => void;
}

/** A retry comes within minutes; older requests are not repeated. */
const knownRequests = 4096;
/** Further ahead is no request of the same client. */
const furthestAhead = 100_000;

export class OrderedRequests {
  readonly #options: OrderedRequestsOptions;
  readonly #known = new Map<number, Known>();
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;
  #tail: Promise<unknown> = Promise.resolve();
  #closed: RequestError | null = null;

  constructor(options: OrderedRequestsOptions) {
    this.#options = options;
  }

  /**
   * @param fingerprint equal for equal requests.
   * @param start gives the work to the table of futures, and returns the future's id.
   * @throws RequestError 409 when the number was used for something else.
   */
  submit(
    seqId: number | null,
    fingerprint: string,
    work: () => Promise<unknown>,
    start: (running: Promise<unknown>) => string,
  ): string {
    if (this.#closed !== null) throw this.#closed;
    if (seqId === null) return start(this.#enqueue(work));
    const before = this.#known.get(seqId);
    if (before !== undefined) {
      if (before.fingerprint === fingerprint) return before.future;
      throw new RequestError(409, `The sequence number ${seqId} was used for another request.`);
    }
    if (seqId < this.#next || seqId > this.#next + furthestAhead) {
      const where = seqId < this.#next ? "past" : "far ahead";
      throw new RequestError(
        409,
        `The sequence number ${seqId} is ${where}; ${this.#next} is next.`,
      );
    }
    const future = start(this.#turn(seqId).then(() => this.#takeTurn(seqId, work)));
    this.#known.set(seqId, { fingerprint, future });
    const [oldest] = this.#known.keys();
    if (this.#known.size > knownRequests && oldest !== undefined) this.#known.delete(oldest);
    return future;
  }

  /** Fails what waits, what is queued and what is to come. */
  close(error: RequestError): void {
    this.#closed = error;
    this.#failWaiting(Infinity, error);
  }

  async #turn(seqId: number): Promise<void> {
    if (seqId === this.#next) return;
    await new Promise<void>((start, fail) => {
      const timer = setTimeout(() => this.#giveUp(seqId), this.#options.gapMs);
      timer.unref();
      this.#waiting.set(seqId, { start, fail, timer });
    });
  }

  /** Those before `seqId` are lost, so it fails; those after it have their turn. */
  #giveUp(seqId: number): void {
    const lost = `sequence number ${this.#next} did not come within ${this.#options.gapMs} ms`;
    const error = new RequestError(400, `Request ${seqId} was not run, because ${lost}.`);
    this.#failWaiting(seqId, error);
    const { onLost } = this.#options;
    const future = this.#known.get(seqId)?.future ?? "";
    if (onLost !== undefined) void this.#enqueue(async () => onLost(error, future));
    this.#resume(seqId + 1);
  }

  #failWaiting(last: number, error: RequestError): void {
    for (const [seqId, { fail, timer }] of this.#waiting) {
      if (seqId > last) continue;
      clearTimeout(timer);
      this.#waiting.delete(seqId);
      fail(error);
    }
  }

  #resume(next: number): void {
    this.#next = next;
    const follower = this.#waiting.get(next);
    this.#waiting.delete(next);
    clearTimeout(follower?.timer);
    follower?.start();
  }

  #takeTurn(seqId: number, work: () => Promise<unknown>): Promise<unknown> {
    const running = this.#enqueue(work);
    this.#resume(seqId + 1);
    return running;
  }

  #enqueue(work: () => Promise<unknown>): Promise<unknown> {
    const running = this.#tail.then(() => {
      if (this.#closed !== null) throw this.#closed;
      return work();
    });
    this.#tail = running.catch(() => undefined);
    return running;
  }
}
