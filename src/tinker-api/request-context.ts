/** What all parts of one client share: the transport, and how to send, wait and read. */
import { AdaptiveSlots } from "../util/adaptive-slots.ts";
import { defined } from "../util/defined.ts";
import type { ClientSettings } from "./client-options.ts";
import { awaitResult, type Payload } from "./futures.ts";
import { TinkerWireError } from "./tinker-error.ts";
import { nameOf, type UpstreamResponse, type HttpCall, type Transport } from "./transport.ts";

/** Of one call. */
export interface TinkerCallOptions {
  /** Gives up waiting; a request that the server has is carried out nevertheless. */
  readonly signal?: AbortSignal;
  /** Longest wait for the result, in milliseconds. @default that of the client */
  readonly deadlineMs?: number;
}

export interface Acknowledged {
  readonly requestId: string;
  readonly modelId: string | null;
  /** From 1; more means that the server may have seen the request before. */
  readonly tries: number;
}

export class RequestContext {
  readonly transport: Transport;
  readonly settings: ClientSettings;
  /** Of all samplers of the client together: they share the server. */
  readonly sampleSlots: AdaptiveSlots;

  constructor(transport: Transport, settings: ClientSettings) {
    this.transport = transport;
    this.settings = settings;
    this.sampleSlots = new AdaptiveSlots(settings.maxConcurrentSamples);
  }

  async json<T>(call: HttpCall): Promise<T> {
    const { bytes } = await this.transport.send(call);
    return parseJson(bytes, nameOf(call)) as T;
  }

  /** `POST`s JSON and returns the JSON of the response. */
  post<T>(path: string, body: object, options: TinkerCallOptions = {}): Promise<T> {
    const { signal } = options;
    return this.json<T>({
      method: "POST",
      path: `/api/v1/${path}`,
      body: JSON.stringify(body),
      ...defined({ signal }),
    });
  }

  /** Sends a request whose response is a future. */
  async submit(call: HttpCall): Promise<Acknowledged> {
    return acknowledged(await this.transport.send(call), nameOf(call));
  }

  /** @param type as in `X-Tinker-Request-Type`. */
  wait(
    path: string,
    type: string,
    requestId: string,
    { signal, deadlineMs = this.settings.deadlineMs }: TinkerCallOptions,
    extra: { readonly acceptProto?: boolean; readonly seqId?: number } = {},
  ): Promise<Payload> {
    return awaitResult(this.transport, {
      request: `POST /api/v1/${path}`,
      requestId,
      type,
      acceptProto: extra.acceptProto ?? false,
      deadlineMs,
      patienceMs: this.settings.patienceMs,
      ...defined({ seqId: extra.seqId, signal }),
    });
  }
}

function acknowledged({ bytes, tries }: UpstreamResponse, request: string): Acknowledged {
  const body = parseJson(bytes, request) as { request_id?: unknown; model_id?: unknown };
  if (typeof body.request_id !== "string")
    throw new TinkerWireError(`The response to ${request} has no request_id.`, { request });
  const modelId = typeof body.model_id === "string" ? body.model_id : null;
  return { requestId: body.request_id, modelId, tries };
}

function parseJson(bytes: Uint8Array, request: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new TinkerWireError(`The response to ${request} is not JSON: ${String(cause)}`, {
      request,
    });
  }
}

/** The JSON of a result that is no tensor. @throws TinkerWireError */
export function jsonOf(payload: Payload, what: string): Readonly<Record<string, unknown>> {
  if (payload.kind === "json") return payload.value;
  throw new TinkerWireError(`The result of ${what} came as protobuf, which was not requested.`);
}

/** A text of a result. @throws TinkerWireError when it is missing and there is no `fallback`. */
export function textOf(
  result: Readonly<Record<string, unknown>>,
  field: string,
  fallback?: string | null,
): string {
  const value = result[field] ?? fallback;
  if (typeof value === "string") return value;
  throw new TinkerWireError(`A result has no ${field}.`, { field });
}
