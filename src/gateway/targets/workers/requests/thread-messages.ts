/** Messages between the thread of requests and its host. */
import type { ResponseChunk } from "../adapters/response-part.ts";
import type { PhaseDeadlines } from "../http/http-request.ts";
import { UpstreamError, type UpstreamErrorDetails } from "../upstream-error.ts";
import { defined } from "../../../../util/defined.ts";
import type { WorkerRequest } from "./upstream-request.ts";
import type { ConnectionOptions } from "../http/connection.ts";

export type ToThread =
  | {
      readonly kind: "open";
      readonly id: number;
      /** Of the connection; its options come with the first request over it. */
      readonly connection: number;
      readonly options?: ConnectionOptions;
      readonly request: WorkerRequest;
      readonly deadlines?: Partial<PhaseDeadlines>;
    }
  | { readonly kind: "abort"; readonly id: number };

export type FromThread =
  | { readonly kind: "pieces"; readonly id: number; readonly pieces: readonly ResponseChunk[] }
  | { readonly kind: "end"; readonly id: number; readonly error?: WireError };

export type WireError =
  | { readonly isUpstream: true; readonly details: UpstreamErrorDetails }
  | { readonly isUpstream: false; readonly message: string; readonly stack: string | undefined };

export function toWireError(error: unknown): WireError {
  if (!(error instanceof UpstreamError)) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { isUpstream: false, message, stack };
  }
  const { failure, message, workerId, status, reason, param, retryAfterS, retry, code, cause } =
    error;
  return {
    isUpstream: true,
    details: {
      failure,
      message,
      status,
      code,
      ...defined({ workerId }),
      ...(reason === null ? {} : { reason }),
      ...(param === null ? {} : { param }),
      ...defined({ retryAfterS, retry }),
      ...(cause instanceof Error ? { cause: `${cause.name}: ${cause.message}` } : {}),
    },
  };
}

export function fromWireError(wire: WireError): Error {
  if (wire.isUpstream) return new UpstreamError(wire.details);
  const error = new Error(wire.message);
  if (wire.stack !== undefined) error.stack = wire.stack;
  return error;
}
