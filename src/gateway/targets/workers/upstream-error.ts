/** What can go wrong with a worker, and whether another try may help. */
import { ApiError, type ApiErrorDetails } from "../../http/api-error.ts";
import { redact } from "../../../util/redact.ts";
import { defined } from "../../../util/defined.ts";

/**
 * `unreachable`: no connection, or a broken one; `timeout`: a phase took too long; `overloaded`: 429 or
 * 503; `failed`: another 5xx; `malformed`: a response that cannot be read; `cut`: it ended early;
 * `refused`: the request is at fault; `unavailable`: there is no worker for it; `stale`: a connection
 * that was kept open had been closed.
 */
export type UpstreamFailure =
  | "unreachable"
  | "timeout"
  | "overloaded"
  | "failed"
  | "malformed"
  | "cut"
  | "refused"
  | "unavailable"
  | "stale";

export interface UpstreamErrorDetails extends Omit<ApiErrorDetails, "status" | "details"> {
  readonly failure: UpstreamFailure;
  /** Named to clients instead of its URL. */
  readonly workerId?: string;
  /** @default by failure */
  readonly status?: number;
}

const statuses: Readonly<Record<UpstreamFailure, number>> = {
  unreachable: 502,
  timeout: 504,
  overloaded: 503,
  failed: 502,
  malformed: 502,
  cut: 502,
  refused: 400,
  unavailable: 503,
  stale: 502,
};

/** A worker's failure as clients see it. */
export class UpstreamError extends ApiError {
  readonly failure: UpstreamFailure;
  readonly workerId: string | undefined;

  constructor(details: UpstreamErrorDetails) {
    const { failure, message, workerId } = details;
    const { status = statuses[failure], reason = `upstream_${failure}` } = details;
    const { code = "UPSTREAM_FAILED", param, retryAfterS, retry, cause } = details;
    super({
      status,
      reason,
      code,
      message: redact(message),
      ...defined({ param, retryAfterS, retry, cause }),
    });
    this.failure = failure;
    this.workerId = workerId;
  }

  /** Whether the same request may succeed later or elsewhere. */
  get isRetriable(): boolean {
    return this.failure !== "refused" && this.failure !== "unavailable";
  }

  /** Whether it is the worker's own word. */
  get isResponse(): boolean {
    return this.failure === "failed" || this.failure === "overloaded";
  }
}

export function malformed(workerId: string, what: string, cause?: unknown): UpstreamError {
  const message = `The worker "${workerId}" ${what}.`;
  return new UpstreamError({ failure: "malformed", message, workerId, cause });
}
