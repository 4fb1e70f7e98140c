/**
 * Requests over HTTP: one attempt, or as many as the fault policy allows, all under the same idempotency
 * key. Knows headers and statuses, not what a route does.
 */
import { randomUUID } from "node:crypto";
import { readLimited } from "../../../util/read-limited.ts";
import { serverlessPath, type ClientSettings } from "./client-options.ts";
import { FaultPolicy, type Fault } from "./fault-policy.ts";
import { FireworksError, statusError, wireError } from "./fireworks-error.ts";

export interface HttpCall {
  readonly method: "GET" | "POST" | "DELETE";
  /** Under the root of the API. */
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** @default a new one for each logical request */
  readonly idempotencyKey?: string;
  /** @default that of the settings */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly text: string;
}

/** What became of one attempt. */
export type Attempt =
  | { readonly kind: "ok"; readonly response: HttpResponse }
  | { readonly kind: "fault"; readonly fault: Fault; readonly error: FireworksError };

/** A response, and how many attempts it took: more than one may have reached the server. */
export interface Sent {
  readonly response: HttpResponse;
  readonly attempts: number;
}

/** More than the log-probabilities of any batch that is sent. */
const maxResponseBytes = 256 * 2 ** 20;

/** Between two warnings about retries of one route. */
const warningMs = 15_000;

/** Where a kind of trainer is mounted, under the root of the API. */
export interface FireworksPaths {
  /** Of the training API, before `/api/v1`. */
  readonly training: string;
  readonly completions: string;
}

export const serverlessPaths: FireworksPaths = {
  training: serverlessPath,
  completions: `${serverlessPath}/inference/v1/completions`,
};

export class FireworksHttp {
  readonly settings: ClientSettings;
  readonly paths: FireworksPaths;
  readonly #warnedAt = new Map<string, number>();
  readonly #closing = new AbortController();

  constructor(settings: ClientSettings, paths: FireworksPaths = serverlessPaths) {
    this.settings = settings;
    this.paths = paths;
  }

  /** Ends all requests and waits, apart from deletions. */
  close(): void {
    this.#closing.abort(new FireworksError({ message: "The Fireworks session was closed." }));
  }

  /** Path of a route of the training API. */
  route(name: string): string {
    return `${this.paths.training}/api/v1/${name}`;
  }

  /** Waits between attempts. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { signal: closing } = this.#closing;
    await this.settings.sleep(
      ms,
      signal === undefined ? closing : AbortSignal.any([signal, closing]),
    );
  }

  /** @throws what is no failure of the network: the reason of an abort, for example. */
  async attempt(call: HttpCall, retryCount: number = 0): Promise<Attempt> {
    const { baseUrl, apiKey, httpTimeoutMs, fetch } = this.settings;
    const request = requestName(call);
    const ends = [
      ...(call.signal === undefined ? [] : [call.signal]),
      ...(call.method === "DELETE" ? [] : [this.#closing.signal]),
    ];
    for (const signal of ends) signal.throwIfAborted();
    let response: HttpResponse;
    try {
      const fetched = await fetch(`${baseUrl}${call.path}`, {
        method: call.method,
        headers: {
          accept: "application/json",
          "x-api-key": apiKey,
          ...(call.body === undefined ? {} : { "content-type": "application/json" }),
          ...(call.method === "POST"
            ? {
                "x-idempotency-key": call.idempotencyKey ?? randomUUID(),
                "x-stainless-retry-count": String(retryCount),
              }
            : {}),
          ...call.headers,
        },
        redirect: "manual",
        signal: AbortSignal.any([...ends, AbortSignal.timeout(call.timeoutMs ?? httpTimeoutMs)]),
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      });
      const text = await readLimited(fetched, maxResponseBytes, () =>
        wireError(`The response to ${request} is larger than ${maxResponseBytes / 2 ** 20} MiB.`),
      );
      response = { status: fetched.status, text };
    } catch (cause) {
      for (const signal of ends) signal.throwIfAborted();
      if (!isNetworkFailure(cause)) throw cause;
      const error = new FireworksError({
        message: `${request} at ${baseUrl} had no response: ${describe(cause)}.`,
        hint: "Look whether the service can be reached.",
        cause,
        fields: { request, baseUrl },
      });
      return { kind: "fault", fault: { kind: "connection" }, error };
    }
    const { status } = response;
    if (status >= 200 && status < 300) return { kind: "ok", response };
    const detail = detailOf(response);
    return {
      kind: "fault",
      fault: { kind: "status", status, detail },
      error: statusError(request, status, detail),
    };
  }

  /** @throws FireworksError when it is refused, or patience is at its end. */
  async send(call: HttpCall): Promise<Sent> {
    const { patienceMs } = this.settings;
    const policy = new FaultPolicy("submit", { patienceMs });
    const idempotencyKey = call.idempotencyKey ?? randomUUID();
    for (let attempts = 1; ; attempts++) {
      const outcome = await this.attempt({ ...call, idempotencyKey }, attempts - 1);
      if (outcome.kind === "ok") return { response: outcome.response, attempts };
      const verdict = policy.after(outcome.fault);
      if (verdict.do !== "retry") throw tagged(outcome.error, attempts);
      this.warnOfRetry(requestName(call), outcome.error);
      await this.sleep(verdict.afterMs, call.signal);
    }
  }

  async json(call: HttpCall): Promise<Readonly<Record<string, unknown>>> {
    return parseJson((await this.send(call)).response, requestName(call));
  }

  /** Many requests at once have the same problem; it is reported once in a while. */
  warnOfRetry(request: string, error: Error): void {
    const now = performance.now();
    if (now - (this.#warnedAt.get(request) ?? -Infinity) < warningMs) return;
    this.#warnedAt.set(request, now);
    this.settings.onWarning(`${request}: trying again. ${error.message}`);
  }
}

/** Attempts of requests that failed, where it matters whether the server may have seen them. */
const attemptsOf = new WeakMap<Error, number>();

function tagged(error: FireworksError, attempts: number): FireworksError {
  attemptsOf.set(error, attempts);
  return error;
}

/** The server looked at the request and did not take it: its sequence number is free. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof FireworksError) || error.status === null) return false;
  return error.status < 500 && attemptsOf.get(error) === 1;
}

export function requestName({ method, path }: HttpCall): string {
  return `${method} ${path.replace(/\?.*$/u, "")}`;
}

/** An object. @throws FireworksError for anything else. */
export function parseJson(
  { text }: HttpResponse,
  request: string,
): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wireError(`The response to ${request} is not JSON: ${text.slice(0, 200)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw wireError(`The response to ${request} is no JSON object.`);
}

/** A text of a response. @throws FireworksError when it is missing and there is no `fallback`. */
export function textField(
  from: Readonly<Record<string, unknown>>,
  field: string,
  fallback?: string,
): string {
  const value = from[field] ?? fallback;
  if (typeof value === "string") return value;
  throw wireError(`A response of Fireworks has no ${field}.`);
}

/** `fetch` rejects with a TypeError for everything that happens on the way, and an abort for timeouts. */
export function isNetworkFailure(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return ["TypeError", "TimeoutError", "AbortError"].includes(cause.name);
}

function describe(cause: unknown): string {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return typeof code === "string" ? `${error.message} (${code})` : error.message;
}

/** What the server says, in one line: of the gateway, of the control plane, or plain text. */
export function detailOf({ text, status }: HttpResponse): string {
  try {
    const { error, message, detail } = JSON.parse(text) as {
      error?: string | { code?: string; message?: string };
      message?: string;
      detail?: unknown;
    };
    if (typeof error === "string") return error;
    if (error?.message !== undefined)
      return [error.code, error.message].filter((part) => part).join(": ");
    const found = message ?? detail;
    return typeof found === "string"
      ? found
      : JSON.stringify(found ?? JSON.parse(text)).slice(0, 500);
  } catch {
    return text.trim() === "" ? `status ${status} without a message` : text.trim().slice(0, 500);
  }
}
