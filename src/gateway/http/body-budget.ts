/**
 * Bytes of request bodies that are in memory at the same time: each becomes text, values and tokens, and
 * some dozens of large ones would end the process. Others wait until there is room.
 */
import { listenToAbort } from "../../util/abort.ts";
import { getHeapStatistics } from "node:v8";
import { ApiError } from "./api-error.ts";

export interface BodyBudgetLimits {
  /** Of all sessions together. */
  readonly maxBytesInFlight: number;
  readonly maxSessionBytesInFlight: number;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
}

/** A body may take some ten times its bytes for a moment. */
const heapShare = 1 / 12;

/** The default of `maxBytesInFlight`. */
export function defaultBytesInFlight(maxBodyBytes: number): number {
  return Math.max(maxBodyBytes, Math.floor(heapShare * getHeapStatistics().heap_size_limit));
}

/** The bytes of one request, counted until its response has ended. */
export interface BodyLease {
  /** They are counted until this has settled, too. */
  until(work: Promise<unknown>): void;
  end(): void;
}

const counters = new WeakMap<Request, (bytes: number) => void>();

/** For a body whose size was not declared: to be called as its bytes arrive. @throws ApiError 429 or 503 */
export function counterOf(request: Request): (bytes: number) => void {
  return counters.get(request) ?? (() => undefined);
}

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
}

const retryAfterS = 1;

function full(bytes: number, limit: number): ApiError {
  return new ApiError({
    status: 503,
    message: `The gateway holds requests of ${limit} bytes, which is the most at a time, so one of ${bytes} bytes found no room.`,
    reason: "bytes_in_flight_exceeded",
    retryAfterS,
  });
}

export class BodyBudget {
  readonly #limits: BodyBudgetLimits;
  readonly #bySession = new Map<string, number>();
  #held = 0;
  #waiting: Waiting[] = [];

  constructor(limits: BodyBudgetLimits) {
    this.#limits = limits;
  }

  /** Bytes that are counted now. */
  get held(): number {
    return this.#held;
  }

  /**
   * Before a body is read. Waits for room.
   * @throws ApiError 429 for a session that holds too much, 503 when there is no room in time.
   */
  async admit(session: string, request: Request): Promise<BodyLease> {
    const { maxBodyBytes } = this.#limits;
    const declared = request.headers.get("content-length");
    const isPacked = request.headers.has("content-encoding");
    // What is too large is refused without being read; what is packed may become as large as allowed.
    const size = isPacked ? maxBodyBytes : Number(declared ?? 0);
    const bytes = Number.isFinite(size) && size <= maxBodyBytes ? size : 0;
    this.#takeOfSession(session, bytes);
    try {
      if (bytes > 0) await this.#takeOfAll(bytes, request.signal);
    } catch (error) {
      this.#giveBack(session, bytes, 0);
      throw error;
    }
    return this.#lease(session, bytes, declared === null && !isPacked ? request : null);
  }

  #lease(session: string, first: number, uncounted: Request | null): BodyLease {
    let held = first;
    let open = 1;
    const end = (): void => {
      open -= 1;
      if (open === 0) this.#giveBack(session, held, held);
    };
    const count = (bytes: number): void => {
      this.#takeOfSession(session, bytes);
      // Not to wait with half a body: all who do so would wait for each other.
      if (!this.#hasRoom(bytes)) {
        this.#giveBack(session, bytes, 0);
        throw full(bytes, this.#limits.maxBytesInFlight);
      }
      this.#held += bytes;
      held += bytes;
    };
    if (uncounted !== null) counters.set(uncounted, count);
    return {
      until(work) {
        open += 1;
        work.then(end, end);
      },
      end,
    };
  }

  #takeOfSession(session: string, bytes: number): void {
    const held = this.#bySession.get(session) ?? 0;
    const { maxSessionBytesInFlight: limit } = this.#limits;
    if (held > 0 && held + bytes > limit) {
      throw new ApiError({
        status: 429,
        message: `This session has requests of ${held} bytes in flight; with ${bytes} more it would pass the ${limit} that are allowed.`,
        reason: "bytes_in_flight_exceeded",
        retryAfterS,
      });
    }
    if (bytes > 0) this.#bySession.set(session, held + bytes);
  }

  /** One request always has room. */
  #hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#limits.maxBytesInFlight;
  }

  #takeOfAll(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) {
      this.#held += bytes;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
      };
      const start = (): void => {
        stop();
        resolve();
      };
      const waiting = { bytes, start };
      const giveUp = (): void => {
        stop();
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(full(bytes, this.#limits.maxBytesInFlight));
        this.#startWaiting();
      };
      // Before the server's own limit for the whole request.
      const timer = setTimeout(giveUp, this.#limits.bodyTimeoutMs / 2);
      listenToAbort(signal, giveUp);
      this.#waiting.push(waiting);
    });
  }

  #giveBack(session: string, ofSession: number, ofAll: number): void {
    const left = (this.#bySession.get(session) ?? 0) - ofSession;
    if (left > 0) this.#bySession.set(session, left);
    else this.#bySession.delete(session);
    this.#held -= ofAll;
    this.#startWaiting();
  }

  /** In the order in which they came. */
  #startWaiting(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (!this.#hasRoom(first.bytes)) return;
      this.#waiting.shift();
      this.#held += first.bytes;
      first.start();
    }
  }
}
