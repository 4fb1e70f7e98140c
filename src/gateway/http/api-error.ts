/** Failures as HTTP clients see them: OpenAI's error shape. */
import { AgentTrainerError, type ErrorCode } from "../../core/errors.ts";
import { defined } from "../../util/defined.ts";

export interface ApiErrorDetails {
  readonly status: number;
  readonly message: string;
  /** Machine-readable reason on the wire, as `invalid_api_key`. */
  readonly reason?: string;
  /** The field of the request that is at fault. */
  readonly param?: string;
  /** False tells the official clients not to send the request again. */
  readonly retry?: boolean;
  /** When it is worth sending again, in seconds. */
  readonly retryAfterS?: number;
  /** What a protocol reports to programs in addition to the message. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** @default "REQUEST_INVALID" */
  readonly code?: ErrorCode;
  readonly cause?: unknown;
}

/** An error with an HTTP status. */
export class ApiError extends AgentTrainerError {
  override readonly name = "ApiError";
  readonly status: number;
  readonly reason: string | null;
  readonly param: string | null;
  readonly retry: boolean | undefined;
  readonly retryAfterS: number | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(details: ApiErrorDetails) {
    super({
      code: details.code ?? "REQUEST_INVALID",
      message: details.message,
      cause: details.cause,
      fields: { status: details.status, reason: details.reason, param: details.param },
    });
    this.status = details.status;
    this.reason = details.reason ?? null;
    this.param = details.param ?? null;
    this.retry = details.retry;
    this.retryAfterS = details.retryAfterS;
    this.details = details.details;
  }
}

/** A 400 that names the field. */
export function badRequest(param: string | undefined, message: string, reason?: string): ApiError {
  return new ApiError({
    status: 400,
    message,
    ...defined({ param, reason }),
  });
}

export function nestedTooDeeply(cause?: unknown): ApiError {
  return new ApiError({
    status: 400,
    message: "The request holds JSON that is nested too deeply: 512 levels are the most.",
    reason: "nested_too_deeply",
    cause,
  });
}

export const methodNotAllowed = ({ method }: Request, allowed: string): ApiError =>
  new ApiError({
    status: 405,
    message: `Method ${method} is not allowed here: use ${allowed}.`,
    reason: "method_not_allowed",
  });

type Shown = Omit<ApiErrorDetails, "message" | "cause"> & { readonly message?: string };

/** How clients see errors of this package; others are none of their business. */
const shown: Partial<Record<ErrorCode, Shown>> = {
  CONTEXT_OVERFLOW: { status: 400, reason: "context_length_exceeded", param: "messages" },
  // The same prompt would fail again.
  NUMERICS: { status: 500, reason: "model_diverged", retry: false },
  TIMEOUT: { status: 504, reason: "timeout", retry: false },
  STORE_FAILED: {
    status: 503,
    message: "The call could not be recorded, so its response is withheld.",
    reason: "store_failed",
    retryAfterS: 1,
  },
  // Its client has tried again for as long as that makes sense.
  TINKER_FAILED: { status: 502, reason: "upstream_failed", retry: false },
  FIREWORKS_FAILED: { status: 502, reason: "upstream_failed", retry: false },
  ABORTED: { status: 503, reason: "aborted", retry: false },
};

/** What a client receives for any failure; what is not meant for it becomes a plain 500. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (AgentTrainerError.isInstance(error)) {
    const { message, code, fields } = error;
    if (code === "REQUEST_INVALID") {
      const { param } = fields;
      const at = typeof param === "string" ? { param } : {};
      return new ApiError({ status: 400, message, ...at, cause: error });
    }
    const details = shown[code];
    if (details !== undefined) return new ApiError({ message, code, cause: error, ...details });
  }
  // Only what a client sent goes down so far: JSON in the arguments of a tool call, for one.
  if (error instanceof RangeError && /call stack/i.test(error.message)) {
    return nestedTooDeeply(error);
  }
  return new ApiError({
    status: 500,
    message: "The gateway failed to handle this request.",
    reason: "internal_error",
    code: "INTERNAL",
    cause: error,
  });
}
