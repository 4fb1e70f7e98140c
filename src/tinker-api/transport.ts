/**
 * One logical call over HTTP: tried again, under the same idempotency key, while that can help. Knows
 * statuses and headers, not what a route does.
 */
import { randomUUID } from "node:crypto";
import { delay, withTimeout } from "../util/abort.ts";
import { readLimitedBytes } from "../util/read-limited.ts";
import { backOffMs, readRetryAfterMs } from "../util/retry.ts";
import {
  TinkerStatusError,
  TinkerUnreachableError,
  TinkerWireError,
  type TinkerRequestName,
} from "./tinker-error.ts";

export interface HttpCall {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Under the base URL, with its query. */
  readonly path: string;
  /** JSON text, or bytes with their media type. */
  readonly body?: string | { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string };
  readonly headers?: Readonly<Record<string, string>>;
  /** @default what the transport was made with */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Statuses that are results for the caller, not errors. */
  readonly accept?: (status: number) => boolean;
  /** No second try. @default false */
  readonly once?: boolean;
  /** Called for each response that says that the server has too much to do: 429 or 503. */
  readonly onOverload?: () => void;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** From 1. More than one means that the server may have seen the request before. */
  readonly tries: number;
}

export interface TransportOptions {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  /** How long one call is tried again. */
  readonly patienceMs: number;
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random?: () => number;
  readonly onWarning: (notice: string) => void;
  /** Sent as `X-API-Key`. */
  readonly key: () => Promise<string>;
}

/** More than the samples or log-probabilities of any request. */
const maxResponseBytes = 2 ** 30;

/** Waiting turns no refusal into a success, apart from these. */
export function isWorthRetrying(status: number): boolean {
  return [402, 408, 425, 429].includes(status) || status >= 500;
}

/** A conflict may be momentary, but one that says what it is will stay. */
const conflictTries = 4;
const lastingConflict = /already exists|already (?:public|private)|sequence number/iu;
/** Between two notices of retries of one route. */
const noticeMs = 15_000;
const maxDelayMs = 10_000;
/** The server's own wish is followed up to here. */
const maxWishMs = 60_000;

export class Transport {
  readonly #options: TransportOptions;
  readonly #fetch: (input: string, init: RequestInit) => Promise<Response>;
  readonly #warnedOf = new Map<string, number>();
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.sleep = options.sleep ?? delay;
  }

  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  /**
   * @throws TinkerStatusError when the server refuses.
   * @throws TinkerUnreachableError when patience is at its end.
   */
  async send(call: HttpCall): Promise<UpstreamResponse> {
    const key = randomUUID();
    const { patienceMs } = this.#options;
    let waited = 0;
    for (let tries = 1; ; tries++) {
      const outcome = await this.#try(call, key, tries);
      call.signal?.throwIfAborted();
      if (outcome.kind === "response") return outcome.response;
      if (outcome.kind === "refusal" || call.once === true) throw outcome.error;
      const wait = outcome.wishMs ?? this.backoff(tries);
      if (waited + wait > patienceMs) throw this.#unreachable(call, tries, outcome.error);
      this.#warnOfRetry(nameOf(call), outcome.error);
      await this.sleep(wait, call.signal);
      // Time spent in a call that went wrong counts, too.
      waited += wait + outcome.spentMs;
    }
  }

  /** Many calls at once have the same problem; it is reported once in a while. */
  #warnOfRetry(request: string, error: Error): void {
    const now = performance.now();
    if (now - (this.#warnedOf.get(request) ?? -Infinity) < noticeMs) return;
    this.#warnedOf.set(request, now);
    this.#options.onWarning(`${request}: trying again. ${error.message}`);
  }

  /** Doubling from half a second, spread so that clients do not come back together. */
  backoff(tries: number): number {
    const { random = Math.random } = this.#options;
    return backOffMs(tries, { firstMs: 500, maxMs: maxDelayMs, jitter: 0.25, random });
  }

  #unreachable(call: HttpCall, tries: number, cause: Error): Error {
    if (cause instanceof TinkerStatusError && cause.status < 500 && cause.status !== 408)
      return cause;
    const status = cause instanceof TinkerStatusError ? { status: cause.status } : {};
    const where = { request: nameOf(call), ...status };
    return new TinkerUnreachableError(where, this.baseUrl, tries, cause);
  }

  async #try(call: HttpCall, idempotencyKey: string, tries: number): Promise<Outcome> {
    const start = performance.now();
    const timeoutMs = call.timeoutMs ?? this.#options.timeoutMs;
    const signal = withTimeout(call.signal, timeoutMs);
    let response: UpstreamResponse;
    try {
      const fetched = await this.#fetch(`${this.baseUrl}${call.path}`, {
        method: call.method,
        headers: await this.#headers(call, idempotencyKey, tries),
        redirect: "manual",
        signal,
        ...bodyOf(call),
      });
      const bytes = await readLimitedBytes(
        fetched,
        maxResponseBytes,
        () =>
          new TinkerWireError(
            `The response to ${nameOf(call)} is larger than ${maxResponseBytes / 2 ** 20} MiB.`,
          ),
      );
      response = { status: fetched.status, headers: fetched.headers, bytes, tries };
    } catch (cause) {
      // A bad URL or key is no matter of time.
      if (!isNetworkFailure(cause)) return { kind: "refusal", error: cause as Error };
      const error = describedBy(cause);
      return { kind: "later", error, wishMs: null, spentMs: performance.now() - start };
    }
    const { status } = response;
    if ((status >= 200 && status < 300) || call.accept?.(status) === true)
      return { kind: "response", response };
    if (status === 429 || status === 503) call.onOverload?.();
    const detail = detailOf(response);
    const where: TinkerRequestName & { status: number } = { request: nameOf(call), status };
    const error = new TinkerStatusError(where, detail, tries);
    if (!mayRetry(response, detail)) return { kind: "refusal", error };
    return {
      kind: "later",
      error,
      wishMs: wishOf(response.headers),
      spentMs: performance.now() - start,
    };
  }

  async #headers(
    call: HttpCall,
    idempotencyKey: string,
    tries: number,
  ): Promise<Record<string, string>> {
    const type = typeof call.body === "object" ? call.body.type : "application/json";
    return {
      accept: "application/json",
      "x-api-key": await this.#options.key(),
      ...(call.method === "GET" ? {} : { "x-idempotency-key": idempotencyKey }),
      ...(call.body === undefined ? {} : { "content-type": type }),
      ...(tries > 1 ? { "x-stainless-retry-count": String(tries - 1) } : {}),
      ...call.headers,
    };
  }
}

type Outcome =
  | { readonly kind: "response"; readonly response: UpstreamResponse }
  | { readonly kind: "refusal"; readonly error: Error }
  | {
      readonly kind: "later";
      readonly error: Error;
      readonly wishMs: number | null;
      readonly spentMs: number;
    };

export function nameOf({ method, path }: HttpCall): string {
  return `${method} ${path.replace(/\?.*$/u, "")}`;
}

function bodyOf({ body }: HttpCall): { body?: string | Uint8Array<ArrayBuffer> } {
  if (body === undefined) return {};
  return { body: typeof body === "string" ? body : body.bytes };
}

/** `fetch` rejects with a TypeError for everything that happens on the way, and an abort for timeouts. */
function isNetworkFailure(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return cause.name === "TypeError" || cause.name === "TimeoutError" || cause.name === "AbortError";
}

/** `fetch` keeps the reason, such as ECONNREFUSED, in the cause of what it throws. */
function describedBy(cause: unknown): Error {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return typeof code === "string" ? new TypeError(`${error.message} (${code})`, { cause }) : error;
}

function mayRetry({ status, headers, tries }: UpstreamResponse, detail: string): boolean {
  const wish = headers.get("x-should-retry");
  if (wish === "true") return true;
  if (wish === "false") return false;
  if (status === 409) return tries < conflictTries && !lastingConflict.test(detail);
  return isWorthRetrying(status);
}

function wishOf(headers: Headers): number | null {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  const wish = Number.isFinite(ms) ? ms : readRetryAfterMs(headers.get("retry-after"));
  return wish !== undefined && wish > 0 && wish <= maxWishMs ? wish : null;
}

/** What the server says, in one line. */
export function detailOf({ bytes, status }: UpstreamResponse): string {
  const text = new TextDecoder().decode(bytes).trim();
  try {
    const { detail, error } = JSON.parse(text) as { detail?: unknown; error?: unknown };
    const found = detail ?? error ?? text;
    if (typeof found === "string") return found;
    const [first] = found as readonly { loc?: readonly unknown[]; msg?: string }[];
    if (first?.msg !== undefined) return `${(first.loc ?? []).join(".")}: ${first.msg}`;
    return JSON.stringify(found).slice(0, 500);
  } catch {
    return text === "" ? `status ${status} without a message` : text.slice(0, 500);
  }
}
