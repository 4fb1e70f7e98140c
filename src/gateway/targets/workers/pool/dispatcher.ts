/**
 * One call to the workers: where it goes, when it is tried again, and which worker it leaves in doubt.
 */
import { delay } from "../../../../util/abort.ts";
import { backOffMs } from "../../../../util/retry.ts";
import type { CallGate } from "../../../call/call-gate.ts";
import { defined } from "../../../../util/defined.ts";
import type { WorkerPool } from "./worker-pool.ts";
import { UpstreamError } from "../upstream-error.ts";
import type { Worker, WorkerFacts } from "./worker.ts";

export interface DispatchOptions {
  /** Tries of one call, the first included. */
  readonly maxAttempts: number;
  /** Wait before the second try at a worker; doubled for each further one. */
  readonly retryDelayMs: number;
}

export interface DispatchedCall {
  readonly affinity: string;
  readonly signal: AbortSignal;
  readonly remainingMs: () => number;
  /** True once the client has seen something: then the first failure is final. */
  readonly committed: () => boolean;
}

/** One try; `tries` counts from 1. */
export type Attempt<T> = (worker: Worker, facts: WorkerFacts, tries: number) => Promise<T>;

const maxDelayMs = 10_000;
/** Connections in a row that may turn out to have been closed. */
const maxStale = 64;

export class Dispatcher {
  readonly #workerPool: WorkerPool;
  readonly #gate: CallGate;
  readonly #options: DispatchOptions;

  constructor(workerPool: WorkerPool, gate: CallGate, options: DispatchOptions) {
    this.#workerPool = workerPool;
    this.#gate = gate;
    this.#options = options;
  }

  /** @throws UpstreamError, or the signal's reason. */
  async run<T>(call: DispatchedCall, attempt: Attempt<T>): Promise<T> {
    const tried = new Set<Worker>();
    const doubted = new Set<Worker>();
    let waits = 0;
    let stale = 0;
    let last: UpstreamError | undefined;
    for (let tries = 1; ; tries++) {
      // The gateway itself delays the first try; a later one must not slip into a weight update.
      if (tries > 1 && this.#gate.paused !== null) {
        await this.#gate.admit(call.remainingMs(), call.signal);
      }
      call.signal.throwIfAborted();
      const worker = this.#workerPool.pick(call.affinity, tried);
      // A worker's own response says more than that no other worker is left.
      if (!worker) throw last?.isResponse === true ? last : this.#unavailable(last);
      // No other worker is left, so this one is tried again.
      if (tried.has(worker) && last) await this.#wait(call, last, ++waits);
      try {
        const result = await this.#try(worker, attempt, tries);
        if (!call.signal.aborted) {
          // What another one could do was not the call's fault.
          for (const failed of doubted) failed.isDoubtful = true;
          worker.isDoubtful = false;
        }
        return result;
      } catch (error) {
        if (call.signal.aborted || !(error instanceof UpstreamError)) throw error;
        // That connection is gone now; there are only so many of its kind.
        if (error.failure === "stale" && !call.committed() && stale++ < maxStale) {
          tries--;
          continue;
        }
        if (!error.isRetriable || call.committed() || tries >= this.#options.maxAttempts)
          throw error;
        last = error;
        tried.add(worker);
        if (error.failure !== "overloaded") doubted.add(worker);
      }
    }
  }

  async #try<T>(worker: Worker, attempt: Attempt<T>, tries: number): Promise<T> {
    worker.activeRequests++;
    try {
      return await attempt(worker, await this.#workerPool.facts(worker), tries);
    } catch (error) {
      throw withoutKey(error, worker);
    } finally {
      worker.activeRequests--;
    }
  }

  async #wait(call: DispatchedCall, last: UpstreamError, waits: number): Promise<void> {
    const { retryDelayMs } = this.#options;
    const ownMs = backOffMs(waits, { firstMs: retryDelayMs, maxMs: maxDelayMs, jitter: 0.5 });
    const waitMs = Math.max(ownMs, (last.retryAfterS ?? 0) * 1000);
    // The client learns now what it would learn too late.
    if (waitMs >= call.remainingMs()) throw last;
    await delay(waitMs, call.signal);
  }

  #unavailable(cause: UpstreamError | undefined): UpstreamError {
    const { problem } = this.#workerPool;
    const checked = problem === undefined ? "" : ` ${problem}`;
    const why = cause ? ` The last one said: ${cause.message}` : checked;
    return new UpstreamError({
      failure: "unavailable",
      message: `No worker can take this call: none is left that is healthy.${why}`,
      reason: "no_healthy_worker",
      retryAfterS: Math.max(1, Math.ceil(this.#workerPool.retryMs / 1000)),
      cause,
    });
  }
}

/** Servers repeat what they were sent. */
function withoutKey(error: unknown, worker: Worker): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const message = worker.redact(error.message);
  if (message === error.message) return error;
  const { failure, status, code, workerId, reason, param, retryAfterS, retry } = error;
  return new UpstreamError({
    failure,
    status,
    code,
    message,
    ...defined({ workerId }),
    ...(reason === null ? {} : { reason }),
    ...(param === null ? {} : { param }),
    ...defined({ retryAfterS, retry }),
  });
}
