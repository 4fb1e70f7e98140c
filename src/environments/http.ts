/** Requests to servers of environments: deadlines, sizes and statuses, for every protocol over HTTP. */
import { startDeadline } from "../core/deadline.ts";
import { AgentTrainerError } from "../core/errors.ts";
import { fetchSameOrigin, RedirectError } from "../http/fetch-same-origin.ts";
import { readLimited as readBody } from "../util/read-limited.ts";
import { backOffMs, readRetryAfterMs, retry } from "../util/retry.ts";
import { environmentError } from "./episode/environment-error.ts";

/** One request. */
export interface HttpRequest {
  readonly url: string;
  /** @default "GET", or "POST" with a body */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Limit for the whole request. @default 60000 */
  readonly timeoutMs?: number;
  /** Maximum size of the response. @default 64 MiB */
  readonly maxBytes?: number;
}

/** A response that was read. */
export interface HttpResponse {
  readonly status: number;
  readonly text: string;
}

const maxRetries = 4;

/** Statuses that a proxy gives while a server starts or is busy. */
const passing = new Set([408, 425, 429, 502, 503, 504]);

export function send(
  { url, method, headers, body }: HttpRequest,
  signal: AbortSignal,
): Promise<Response> {
  return fetchSameOrigin(url, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...headers,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
  });
}

/** The body as text. @throws AgentTrainerError when it is larger than `maxBytes`. */
export const readLimited = (response: Response, url: string, maxBytes: number): Promise<string> =>
  readBody(response, maxBytes, () => tooLarge(url, maxBytes));

export function tooLarge(url: string, maxBytes: number): AgentTrainerError {
  return environmentError(`The response of ${url} is larger than ${maxBytes} bytes.`, {
    isFinal: true,
    fields: { url, maxBytes },
  });
}

/** Turns what `fetch` throws into an error of the environment; keeps those that already are one. */
export function connectionError(url: string, error: unknown): AgentTrainerError {
  if (AgentTrainerError.isInstance(error) && error.code === "ENVIRONMENT_FAILED") return error;
  const inner = (error as { cause?: unknown } | null)?.cause ?? error;
  const what = inner instanceof Error ? inner.message : String(inner);
  return environmentError(`${url} cannot be reached: ${what}`, {
    cause: error,
    isFinal: error instanceof RedirectError,
    hint: "Start the server of the environment, or correct its address.",
    fields: { url },
  });
}

/** A status that means an error. */
export function statusError(url: string, { status, text }: HttpResponse): AgentTrainerError {
  return environmentError(`${url} responded with status ${status}: ${text.slice(0, 500)}`, {
    isFinal: status >= 400 && status < 500 && !passing.has(status) && status !== 410,
    fields: { url, status },
  });
}

/** One request, whatever its status. @throws AgentTrainerError (`ENVIRONMENT_FAILED`) without a response. */
export async function request(wanted: HttpRequest): Promise<HttpResponse> {
  const { url, timeoutMs = 60_000, maxBytes = 64 * 2 ** 20, signal } = wanted;
  const deadline = startDeadline(`A request to ${url}`, timeoutMs, signal);
  try {
    const response = await send(wanted, deadline.signal);
    return { status: response.status, text: await readLimited(response, url, maxBytes) };
  } catch (error) {
    signal?.throwIfAborted();
    if (!deadline.hasPassed()) throw connectionError(url, error);
    throw environmentError(`${url} did not respond within ${timeoutMs} ms.`, {
      cause: error,
      hint: "The server of the environment is stuck, or makes many tasks; its log may say which.",
      fields: { url, timeoutMs },
    });
  } finally {
    deadline.dispose();
  }
}

/**
 * The JSON of a request that may be repeated, which it is where the connection or a proxy fails.
 * @throws AgentTrainerError (`ENVIRONMENT_FAILED`)
 */
export async function requestJson(wanted: HttpRequest): Promise<unknown> {
  return await retry(
    async () => {
      const response = await request(wanted);
      if (response.status >= 400) throw statusError(wanted.url, response);
      return parseJson(wanted.url, response.text);
    },
    {
      signal: wanted.signal,
      waitMs: (error, failures) =>
        failures > maxRetries || !mayPass(error) ? null : wait(failures),
    },
  );
}

export const wait = (failures: number): number =>
  backOffMs(failures, { firstMs: 100, maxMs: 5000, jitter: 0.3 });

/** Whether another attempt may succeed. */
export function mayPass(error: unknown): boolean {
  return AgentTrainerError.isInstance(error) && error.fields["isFinal"] !== true;
}

/** @throws AgentTrainerError that shows the start of the text. */
export function parseJson(url: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw environmentError(`${url} sent something that is not JSON: ${text.slice(0, 200)}`, {
      cause: error,
      isFinal: true,
      fields: { url },
    });
  }
}

/** Wait that a response asks for with `Retry-After`. */
export const askedWaitMs = (response: Response): number | undefined =>
  readRetryAfterMs(response.headers.get("retry-after"));
