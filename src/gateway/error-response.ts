/** Errors as HTTP responses. */
import { toApiError } from "./api-error.ts";

/** OpenAI's error body. */
export function errorBody(error: unknown): Readonly<Record<string, unknown>> {
  const { message, status, param, reason } = toApiError(error);
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type, param, code: reason } };
}

export function errorResponse(error: unknown): Response {
  const { status, retry, reason } = toApiError(error);
  return Response.json(errorBody(error), {
    status,
    headers: {
      // The official clients obey this header.
      ...(retry === undefined ? {} : { "x-should-retry": String(retry) }),
      ...(reason === "invalid_api_key" ? { "www-authenticate": "Bearer" } : {}),
    },
  });
}
