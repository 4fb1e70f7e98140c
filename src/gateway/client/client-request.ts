/** One request to a gateway: its deadline, its errors. Knows no route. */
import { AgentTrainerError, ConfigError, DeadlineError } from "../../core/errors.ts";
import { ApiError } from "../http/api-error.ts";
import { isJsonObject } from "../http/json-fields.ts";
import { patientFetch } from "./patient-fetch.ts";
import { redact } from "../../util/redact.ts";

export interface ClientOptions {
  /** Where the gateway listens, as `http://127.0.0.1:9090`. */
  readonly url: string;
  readonly adminToken: string;
  /** Longest duration of a request, at least 1; of a stream, until it begins. @default 30_000 */
  readonly timeoutMs?: number;
  /** @default the global one */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the request; its reason is thrown. */
  readonly signal?: AbortSignal;
}

export interface ClientCall extends CallOptions {
  readonly method?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** More time than a usual request. */
  readonly extraMs?: number;
}

async function errorOf(response: Response, path: string): Promise<ApiError> {
  const text = await response.text();
  let details: Readonly<Record<string, unknown>> = {};
  try {
    const body = JSON.parse(text) as unknown;
    if (isJsonObject(body) && isJsonObject(body["error"])) details = body["error"];
  } catch {
    // Something between us and the gateway answered.
  }
  const { message, code, param } = details;
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ApiError({
    status: response.status,
    message:
      typeof message === "string"
        ? message
        : `The gateway answered ${path} with ${response.status}: ${redact(text.slice(0, 200))}`,
    ...(typeof code === "string" ? { reason: code } : {}),
    ...(typeof param === "string" ? { param } : {}),
    ...(Number.isNaN(seconds) ? {} : { retryAfterS: seconds }),
    code: response.status >= 500 ? "INTERNAL" : "REQUEST_INVALID",
  });
}

/** Node's fetch waits for headers no longer than 300 s. */
const impatientMs = 290_000;

export class ClientRequests {
  readonly #options: ClientOptions;
  readonly #base: string;

  constructor(options: ClientOptions) {
    const { url, timeoutMs } = options;
    if (!URL.canParse(url)) {
      throw new ConfigError({ message: `url must be an address, but it is ${url}.` });
    }
    if (timeoutMs !== undefined && !(timeoutMs >= 1 && timeoutMs < 2 ** 31)) {
      throw new ConfigError({ message: `timeoutMs must be at least 1, but it is ${timeoutMs}.` });
    }
    this.#options = options;
    this.#base = url.replace(/\/+$/, "");
  }

  /** The answer, read by `read` within the deadline. @throws ApiError, DeadlineError, or the signal's reason. */
  async send<T>(call: ClientCall, read: (response: Response) => Promise<T> | T): Promise<T> {
    const { timeoutMs = 30_000 } = this.#options;
    const limitMs = timeoutMs + (call.extraMs ?? 0);
    const ending = new AbortController();
    const deadline = new DeadlineError(`${call.method ?? "GET"} ${call.path}`, limitMs);
    const timer = setTimeout(() => {
      ending.abort(deadline);
    }, limitMs);
    const onAbort = (): void => {
      ending.abort(call.signal?.reason);
    };
    if (call.signal?.aborted === true) onAbort();
    else call.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const response = await this.#fetch(call, ending.signal, limitMs);
      if (!response.ok) throw await errorOf(response, call.path);
      return await read(response);
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason;
      throw error;
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", onAbort);
    }
  }

  json<T>(call: ClientCall): Promise<T> {
    return this.send(call, async (response) => (await response.json()) as T);
  }

  /** A stream: only its beginning has a deadline. */
  async open(call: ClientCall, streaming: AbortSignal): Promise<Response> {
    return this.send(call, (response) => response).catch((error: unknown) => {
      if (streaming.aborted) throw streaming.reason;
      throw error;
    });
  }

  async #fetch(call: ClientCall, signal: AbortSignal, limitMs: number): Promise<Response> {
    const { adminToken } = this.#options;
    const send = this.#options.fetch ?? (limitMs < impatientMs ? fetch : patientFetch);
    const { method = "GET", path, query = {}, body, headers } = call;
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    signal.throwIfAborted();
    try {
      return await send(url, {
        method,
        signal,
        headers: {
          authorization: `Bearer ${adminToken}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw new AgentTrainerError({
        code: "INTERNAL",
        message: `The gateway at ${redact(this.#base)} cannot be reached.`,
        hint: "Start it with: agent-trainer gateway",
        cause,
        fields: { path },
      });
    }
  }
}
