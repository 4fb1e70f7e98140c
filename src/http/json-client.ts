/**
 * Requests to one service: its address and key, a deadline, a limit of size, errors of the caller's own class,
 * and tries again while that can help. Redirects carry nothing to another origin.
 */
import { startDeadline } from "../core/deadline.ts";
import { readLimitedBytes } from "../util/read-limited.ts";
import { mask } from "../util/redact.ts";
import { backOffMs, retry, type BackOff } from "../util/retry.ts";
import { fetchSameOrigin } from "./fetch-same-origin.ts";
import {
  connectionFault,
  HttpFault,
  lateFault,
  mayPass,
  parseJson,
  sizeFault,
  statusFault,
} from "./http-fault.ts";

interface RetryPolicy extends BackOff {
  /** The first one included. */
  readonly tries: number;
  /** @default what is no fault of the request: no response, half a response, 408, 425, 429, 5xx */
  readonly mayPass?: (fault: HttpFault) => boolean;
  /** Longest wait that is granted to a `Retry-After`. @default 600000 */
  readonly maxRetryAfterMs?: number;
}

export interface JsonClientOptions {
  /** What `path` is appended to. @default "": paths are whole addresses */
  readonly baseUrl?: string;
  /** Sent as a bearer token. */
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of one try, in milliseconds. */
  readonly timeoutMs: number;
  /** Of one response. */
  readonly maxBytes: number;
  /** @default one try */
  readonly retry?: RetryPolicy;
  /** What is thrown after `tries`. @default the fault */
  readonly toError?: (fault: HttpFault, call: HttpCall, tries: number) => Error;
  /** @default the global `fetch` */
  readonly fetch?: typeof fetch;
}

export interface HttpCall {
  readonly path: string;
  /** @default "GET", or "POST" with a body */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Instead of the client's. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** No second try. @default false */
  readonly once?: boolean;
  /** Statuses that are results. @default 2xx */
  readonly accept?: (status: number) => boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Enough of an error page to find its message. */
const maxErrorBytes = 2 ** 20;

export class JsonClient {
  readonly #options: JsonClientOptions;

  constructor(options: JsonClientOptions) {
    this.#options = options;
  }

  /** @throws what `toError` makes, or the signal's reason. */
  json(call: HttpCall): Promise<unknown> {
    return this.request(call, (response) => parseJson(textOf(response)));
  }

  /** What `read` makes of the response; a fault that it throws is one of the try. @throws as `json` does */
  request<T>(call: HttpCall, read: (response: HttpResponse) => T): Promise<T> {
    const { toError = (fault: HttpFault): Error => fault, retry: policy } = this.#options;
    return retry(async () => read(await this.#once(call)), {
      signal: call.signal,
      waitMs(error, failures) {
        if (!(error instanceof HttpFault)) return null;
        const isLast = policy === undefined || call.once === true;
        const wait = isLast ? null : waitOf(policy, error, failures);
        if (wait === null) throw toError(error, call, failures);
        return wait;
      },
    });
  }

  /** One try, whose body is still to be read. @throws HttpFault, or the signal's reason */
  async #open(call: HttpCall): Promise<Response> {
    const { path, method, body, signal, accept = isSuccess } = call;
    const { baseUrl = "", fetch } = this.#options;
    const headers = this.#headers(call);
    const init: RequestInit = {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers,
      ...(body === undefined ? {} : { body: isBytes(body) ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
    let response: Response;
    try {
      response = await fetchSameOrigin(baseUrl + path, init, fetch);
    } catch (error) {
      signal?.throwIfAborted();
      throw connectionFault(error);
    }
    if (accept(response.status)) return response;
    throw statusFault(response, withoutSecrets(await readStart(response), headers));
  }

  #headers({ body, headers }: HttpCall): Record<string, string> {
    const { key, headers: shared } = this.#options;
    const type = isBytes(body) ? "application/octet-stream" : "application/json";
    return {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": type }),
      ...shared,
      ...headers,
    };
  }

  async #once(call: HttpCall): Promise<HttpResponse> {
    const { timeoutMs, maxBytes } = { ...this.#options, ...call };
    const deadline = startDeadline(`A request to ${call.path}`, timeoutMs, call.signal);
    try {
      const response = await this.#open({ ...call, signal: deadline.signal });
      const bytes = await readLimitedBytes(response, maxBytes, () => sizeFault(maxBytes));
      return { status: response.status, headers: response.headers, bytes };
    } catch (error) {
      throw deadline.hasPassed() ? lateFault(timeoutMs, error) : connectionFault(error);
    } finally {
      deadline.dispose();
    }
  }
}

export const textOf = ({ bytes }: HttpResponse): string => bytes.toString("utf8");

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const isBytes = (body: unknown): body is Uint8Array<ArrayBuffer> => body instanceof Uint8Array;

function waitOf(policy: RetryPolicy, fault: HttpFault, failures: number): number | null {
  const { tries, mayPass: isPassing = mayPass, maxRetryAfterMs = Infinity } = policy;
  if (failures >= tries || !isPassing(fault)) return null;
  const { retryAfterMs } = fault;
  return retryAfterMs === undefined
    ? backOffMs(failures, policy)
    : Math.min(retryAfterMs, maxRetryAfterMs);
}

const secretHeader = /^(?:authorization|x-[a-z-]*(?:key|secret|token)[a-z-]*)$/iu;

/** Services repeat what they were sent. */
function withoutSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  const secrets = Object.entries(headers).flatMap(([name, value]) =>
    secretHeader.test(name) ? [value.replace(/^\w+ +/u, "")] : [],
  );
  return secrets.reduce(
    (clean, secret) => (secret === "" ? clean : clean.replaceAll(secret, mask)),
    text,
  );
}

/** As much of an error's body as comes. */
async function readStart(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece as Uint8Array);
      size += (piece as Uint8Array).byteLength;
      if (size >= maxErrorBytes) break;
    }
  } catch {
    // The status says more than that its body was cut off.
  }
  return Buffer.concat(pieces).toString("utf8", 0, maxErrorBytes);
}
