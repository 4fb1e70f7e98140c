/**
 * Bytes of request bodies that are in memory at the same time: each becomes text, values and tokens, and
 * some dozens of large ones would end the process. Others wait until there is room.
 */
import { getHeapStatistics } from "node:v8";
import { ByteBudget } from "../../http/bodies.ts";
import { ApiError } from "./api-error.ts";

export interface BodyBudgetLimits {
  /** Of all sessions together. */
  readonly maxBytesInFlight: number;
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
  readonly #all: ByteBudget;
  /** Of one session. */
  readonly #share: number;

  constructor(limits: BodyBudgetLimits) {
    this.#limits = limits;
    this.#all = new ByteBudget(limits.maxBytesInFlight);
    this.#share = Math.max(limits.maxBodyBytes, Math.floor(limits.maxBytesInFlight / 2));
  }

  /** Bytes that are counted now. */
  get held(): number {
    return this.#all.held;
  }

  /**
   * Before a body is read. Waits for room.
   * @throws ApiError 429 for a session that holds too much, 503 when there is no room in time.
   */
  async admit(session: string, request: Request): Promise<BodyLease> {
    const { maxBodyBytes, maxBytesInFlight, bodyTimeoutMs } = this.#limits;
    const declared = request.headers.get("content-length");
    const isPacked = request.headers.has("content-encoding");
    // What is too large is refused without being read; what is packed may become as large as allowed.
    const size = isPacked ? maxBodyBytes : Number(declared ?? 0);
    const bytes = Number.isFinite(size) && size <= maxBodyBytes ? size : 0;
    this.#takeOfSession(session, bytes);
    // Half of it is before the server's own limit for the whole request.
    const hasRoom =
      bytes === 0 || (await this.#all.takeLater(bytes, bodyTimeoutMs / 2, request.signal));
    if (!hasRoom) {
      this.#giveBackOfSession(session, bytes);
      throw full(bytes, maxBytesInFlight);
    }
    return this.#lease(session, bytes, declared === null && !isPacked ? request : null);
  }

  #lease(session: string, first: number, uncounted: Request | null): BodyLease {
    let held = first;
    let open = 1;
    const end = (): void => {
      open -= 1;
      if (open > 0) return;
      this.#giveBackOfSession(session, held);
      this.#all.give(held);
    };
    const count = (bytes: number): void => {
      this.#takeOfSession(session, bytes);
      // Not to wait with half a body: all who do so would wait for each other.
      if (!this.#all.take(bytes)) {
        this.#giveBackOfSession(session, bytes);
        throw full(bytes, this.#limits.maxBytesInFlight);
      }
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
    if (held > 0 && held + bytes > this.#share) {
      throw new ApiError({
        status: 429,
        message: `This session has requests of ${held} bytes in flight; with ${bytes} more it would pass the ${this.#share} that are allowed.`,
        reason: "bytes_in_flight_exceeded",
        retryAfterS,
      });
    }
    if (bytes > 0) this.#bySession.set(session, held + bytes);
  }

  #giveBackOfSession(session: string, bytes: number): void {
    const left = (this.#bySession.get(session) ?? 0) - bytes;
    if (left > 0) this.#bySession.set(session, left);
    else this.#bySession.delete(session);
  }
}
