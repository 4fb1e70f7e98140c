/** Errors as HTTP responses, in the shape of the protocol that was spoken. */
import { toApiError, type ApiError } from "./api-error.ts";
import { redact } from "../../util/redact.ts";

type Wire = Readonly<Record<string, unknown>>;

/** How a protocol reports an error. */
export type ErrorShape = (error: ApiError) => Wire;

/** `promptField` is what the protocol calls the prompt. */
function openAiShape(promptField: string): ErrorShape {
  return ({ message, status, param, reason, code }) => ({
    error: {
      message,
      type: status >= 500 ? "server_error" : "invalid_request_error",
      param: code === "CONTEXT_OVERFLOW" ? promptField : param,
      code: reason,
    },
  });
}

export const chatErrors: ErrorShape = openAiShape("messages");
export const completionsErrors: ErrorShape = openAiShape("prompt");
const responsesErrors: ErrorShape = openAiShape("input");

const anthropicTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

export const messagesErrors: ErrorShape = (error) => {
  const { status, message, code, details } = error;
  const type = anthropicTypes[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  // Anthropic's clients recognise an overflow by these words.
  const prefix = code === "CONTEXT_OVERFLOW" ? "prompt is too long: " : "";
  const more = details === undefined ? {} : { details };
  return { type: "error", error: { type, message: prefix + message, ...more } };
};

/** The shape that a client at this URL can read. */
export function errorShapeOf(url: string): ErrorShape {
  // As paths are read: see `parsePath`.
  const path = url
    .replace(/[?#].*$/s, "")
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "");
  if (/\/v1\/messages(\/count_tokens)?$/.test(path)) return messagesErrors;
  if (/\/v1\/responses(\/|$)/.test(path)) return responsesErrors;
  if (path.endsWith("/completions") && !path.endsWith("/chat/completions")) {
    return completionsErrors;
  }
  return chatErrors;
}

function redactIn(value: Wire, message: string, clean: string): Wire {
  const text = JSON.stringify(value);
  const [from, to] = [message, clean].map((part) => JSON.stringify(part).slice(1, -1));
  return JSON.parse(text.replaceAll(from as string, () => to as string)) as Wire;
}

export function errorBody(error: unknown, shape: ErrorShape): Wire {
  const apiError = toApiError(error);
  const body = shape(apiError);
  const clean = redact(apiError.message);
  // What an upstream or the client itself wrote may hold a key.
  return clean === apiError.message ? body : redactIn(body, apiError.message, clean);
}

export function errorResponse(error: unknown, shape: ErrorShape = chatErrors): Response {
  const { status, retry, reason, retryAfterS } = toApiError(error);
  return Response.json(errorBody(error, shape), {
    status,
    headers: {
      // The official clients obey this header.
      ...(retry === undefined ? {} : { "x-should-retry": String(retry) }),
      ...(retryAfterS === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterS)) }),
      ...(reason === "invalid_api_key" || reason === "session_closed"
        ? { "www-authenticate": "Bearer" }
        : {}),
    },
  });
}
