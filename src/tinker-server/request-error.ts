/** A request that cannot be served, and what its client receives. */
import { TinkerWireError } from "../tinker-api/tinker-error.ts";

/** With the status and the sentence that the client gets. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface WireFailure {
  readonly status: number;
  readonly message: string;
}

/** Failures of this server's own are given to `onError`, and the client learns nothing of them. */
export function failureOf(error: unknown, onError?: (error: unknown) => void): WireFailure {
  if (error instanceof RequestError) return { status: error.status, message: error.message };
  if (error instanceof TinkerWireError || error instanceof SyntaxError)
    return { status: 422, message: error.message };
  onError?.(error);
  return { status: 500, message: "Internal Server Error" };
}
