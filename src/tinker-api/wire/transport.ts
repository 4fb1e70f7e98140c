/**
 * Requests over HTTP: one attempt, or as many as the service's fault policy allows, all under the same
 * idempotency key. Knows statuses and headers, not what a route does.
 */
import { randomUUID } from "node:crypto";
import { withTimeout } from "../../util/abort.ts";
import { readLimitedBytes } from "../../util/read-limited.ts";
import { protoMediaType } from "../codec/proto-codec.ts";
import { FaultPolicy, type Fault } from "./fault-policy.ts";
import type { Method, ServerProfile, WireSettings } from "./server-profile.ts";
import { isJsonObject } from "../../util/json-object.ts";

export interface HttpCall {
  readonly method: Method;
  /** Under the base URL, with its query. */
  readonly path: string;
  /** The body: as JSON, or a message in protobuf. */
  readonly json?: object;
  readonly proto?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  /** @default a new one for each logical request */
  readonly idempotencyKey?: string;
  /** @default that of the settings */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Statuses that are results for the caller, not faults. */
  readonly accept?: (status: number) => boolean;
  /** Called for each response that says that the server has too much to do: 429 or 503. */
  readonly onOverload?: () => void;
  /** Goes on, or begins, after the transport was closed. @default false */
  readonly outlivesClose?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** From 1. More than one means that the server may have seen the request before. */
  readonly tries: number;
}

/** What became of one attempt. */
export type Attempt =
  | { readonly kind: "ok"; readonly response: HttpResponse }
  | { readonly kind: "fault"; readonly fault: Fault };

export type Json = Readonly<Record<string, unknown>>;

/** Between two warnings about retries of one route. */
const warningMs = 15_000;

/** Errors of requests whose only attempt was refused: the server does not have them. */
const refusals = new WeakSet<object>();

/** The server looked at the request and did not take it: its sequence number is free. */
export function isRefusal(error: unknown): boolean {
  return typeof error === "object" && error !== null && refusals.has(error);
}

export class Transport {
  readonly profile: ServerProfile;
  readonly settings: WireSettings;
  readonly #warnedAt = new Map<string, number>();
  readonly #closing = new AbortController();

  constructor(profile: ServerProfile, settings: WireSettings) {
    this.profile = profile;
    this.settings = settings;
  }

  get baseUrl(): string {
    return this.settings.baseUrl;
  }

  /** Path of a route of the protocol. */
  route(name: string): string {
    return `${this.profile.prefix}/api/v1/${name}`;
  }

  /** Ends all requests and waits with `reason`, apart from those that outlive it. */
  close(reason: Error): void {
    this.#closing.abort(reason);
  }

  /** Waits between attempts. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { signal: closing } = this.#closing;
    const ends = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    await this.settings.sleep(ms, ends);
  }

  /**
   * @param tries this one included.
   * @throws what is no failure of the network: the reason of an abort, for example.
   */
  async attempt(
    call: HttpCall,
    tries: number = 1,
    idempotencyKey: string = call.idempotencyKey ?? randomUUID(),
  ): Promise<Attempt> {
    const { profile, settings } = this;
    const { errors, maxResponseBytes } = profile;
    const request = nameOf(call);
    const began = performance.now();
    const fault = (status: number | null, error: Error, detail: string, headers: Headers) =>
      ({
        kind: "fault",
        fault: { status, error, detail, headers, spentMs: performance.now() - began },
      }) as const;
    const ends = [
      ...(call.signal === undefined ? [] : [call.signal]),
      ...(call.outlivesClose === true ? [] : [this.#closing.signal]),
    ];
    const checkEnds = (): void => {
      for (const end of ends) end.throwIfAborted();
    };
    checkEnds();
    let response: HttpResponse;
    try {
      const fetched = await settings.fetch(`${settings.baseUrl}${call.path}`, {
        method: call.method,
        headers: {
          accept: "application/json",
          ...(await profile.headers(call.method, idempotencyKey, tries)),
          ...contentType(call),
          ...call.headers,
        },
        redirect: "manual",
        signal: withTimeout(AbortSignal.any(ends), call.timeoutMs ?? settings.httpTimeoutMs),
        ...bodyOf(call),
      });
      const bytes = await readLimitedBytes(fetched, maxResponseBytes, () =>
        errors.wire(`The response to ${request} is larger than ${maxResponseBytes / 2 ** 20} MiB.`),
      );
      response = { status: fetched.status, headers: fetched.headers, bytes, tries };
    } catch (cause) {
      checkEnds();
      // A bad URL or key is no matter of time.
      if (!isNetworkFailure(cause)) throw cause;
      return fault(null, errors.connection(request, cause), "", new Headers());
    }
    checkEnds();
    const { status, headers } = response;
    if ((status >= 200 && status < 300) || call.accept?.(status) === true)
      return { kind: "ok", response };
    if (status === 429 || status === 503) call.onOverload?.();
    const detail = detailOf(response);
    return fault(status, errors.status(request, status, detail, tries), detail, headers);
  }

  /** @throws the service's error when it refuses, or patience is at its end. */
  async send(call: HttpCall): Promise<HttpResponse> {
    const request = nameOf(call);
    const policy = new FaultPolicy(this.profile.faults, "submit", { request });
    const key = call.idempotencyKey ?? randomUUID();
    for (let tries = 1; ; tries++) {
      const outcome = await this.attempt(call, tries, key);
      if (outcome.kind === "ok") return outcome.response;
      const { status, error } = outcome.fault;
      const verdict = policy.after(outcome.fault);
      if (verdict.do !== "retry") {
        if (status !== null && status < 500 && tries === 1) refusals.add(error);
        throw verdict.do === "fail" ? verdict.error : error;
      }
      this.warnOfRetry(request, error);
      await this.sleep(verdict.afterMs, call.signal);
    }
  }

  async json(call: HttpCall): Promise<Json> {
    return this.parse(await this.send(call), nameOf(call));
  }

  /** `POST`s JSON to a route of the protocol. */
  post(route: string, json: object, signal?: AbortSignal): Promise<Json> {
    return this.json({ method: "POST", path: this.route(route), json, signal });
  }

  /** An object. @throws the service's error for anything else. */
  parse(response: HttpResponse, request: string): Json {
    const text = textOf(response);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw this.profile.errors.wire(
        `The response to ${request} is not JSON: ${text.slice(0, 200)}`,
        { request },
      );
    }
    if (isJsonObject(value)) return value;
    throw this.profile.errors.wire(`The response to ${request} is not a JSON object.`, { request });
  }

  /** A text of a response. @throws the service's error when it is missing and there is no `fallback`. */
  field(from: Json, name: string, fallback?: string | null): string {
    const value = from[name] ?? fallback;
    if (typeof value === "string") return value;
    throw this.profile.errors.wire(`A response of ${this.profile.service} has no ${name}.`, {
      field: name,
    });
  }

  /** Many requests at once have the same problem; it is reported once in a while. */
  warnOfRetry(request: string, error: Error): void {
    const now = performance.now();
    if (now - (this.#warnedAt.get(request) ?? -Infinity) < warningMs) return;
    this.#warnedAt.set(request, now);
    this.settings.onWarning(`${request}: trying again. ${error.message}`);
  }
}

export function nameOf({ method, path }: HttpCall): string {
  return `${method} ${path.replace(/\?.*$/u, "")}`;
}

export function textOf({ bytes }: HttpResponse): string {
  return new TextDecoder().decode(bytes);
}

/** What `fetch` says, with the reason that it keeps in the cause: ECONNREFUSED, for example. */
export function reasonOf(cause: unknown): string {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return typeof code === "string" ? `${error.message} (${code})` : error.message;
}

function contentType({ json, proto }: HttpCall): { "content-type"?: string } {
  if (proto !== undefined) return { "content-type": protoMediaType };
  return json === undefined ? {} : { "content-type": "application/json" };
}

function bodyOf({ json, proto }: HttpCall): { body?: string | Uint8Array<ArrayBuffer> } {
  if (proto !== undefined) return { body: proto };
  return json === undefined ? {} : { body: JSON.stringify(json) };
}

/** `fetch` rejects with a TypeError for everything that happens on the way, and an abort for timeouts. */
function isNetworkFailure(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return ["TypeError", "TimeoutError", "AbortError"].includes(cause.name);
}

/** What the server says, in one line: FastAPI's `detail`, `error` of a gateway, google.rpc, or plain text. */
function detailOf(response: HttpResponse): string {
  const text = textOf(response).trim();
  try {
    const { detail, error, message } = JSON.parse(text) as {
      detail?: unknown;
      error?: string | { code?: string; message?: string };
      message?: unknown;
    };
    const found = detail ?? error ?? message;
    if (typeof found === "string") return found;
    if (Array.isArray(found) && found[0]?.msg !== undefined)
      return `${((found[0] as { loc?: unknown[] }).loc ?? []).join(".")}: ${found[0].msg}`;
    if (typeof error === "object" && error?.message !== undefined)
      return [error.code, error.message].filter((part) => part).join(": ");
    return JSON.stringify(found ?? JSON.parse(text)).slice(0, 500);
  } catch {
    return text === "" ? `status ${response.status} without a message` : text.slice(0, 500);
  }
}
