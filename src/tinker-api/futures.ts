/**
 * Waits for the result of a request that the server works on: long polls, one after the other. Knows
 * what each response means, not what the result is.
 */
import { DeadlineError } from "../core/errors.ts";
import { protoMediaType } from "./codec/proto-codec.ts";
import { defined } from "../util/defined.ts";
import {
  TinkerRequestFailedError,
  TinkerResultGoneError,
  TinkerStatusError,
  TinkerUnreachableError,
  TinkerWireError,
  type TinkerRequestName,
} from "./tinker-error.ts";
import { detailOf, isWorthRetrying, type UpstreamResponse, type Transport } from "./transport.ts";

/** A finished request's payload: JSON, or the bytes of a protobuf message. */
export type Payload =
  | { readonly kind: "json"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "proto"; readonly bytes: Uint8Array };

export interface AwaitedRequest extends TinkerRequestName {
  readonly requestId: string;
  /** `X-Tinker-Request-Type`: what is waited for, for the server's statistics. */
  readonly type: string;
  /** The result may come as protobuf. */
  readonly acceptProto: boolean;
  readonly deadlineMs: number;
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
}

/** A proxy may send a stray 400; a real one comes again. */
const badRequestTries = 4;
/** Between polls that the server ends faster than it should. */
const quickPollMs = 100;

/**
 * @throws TinkerRequestFailedError when the server failed at it.
 * @throws TinkerResultGoneError when the server does not know it any more.
 * @throws DeadlineError when it takes too long; the server continues it.
 */
export async function awaitResult(transport: Transport, awaited: AwaitedRequest): Promise<Payload> {
  const start = performance.now();
  let lastContact = start;
  let failures = 0;
  let badRequests = 0;
  for (let iteration = 0; ; iteration++) {
    const left = awaited.deadlineMs - (performance.now() - start);
    if (left <= 0) throw new DeadlineError(awaited.request, awaited.deadlineMs);
    const began = performance.now();
    const response = await poll(transport, awaited, iteration).catch((error: unknown) => {
      awaited.signal?.throwIfAborted();
      if (error instanceof TinkerUnreachableError || isLater(error)) return error as Error;
      throw error;
    });
    if (response instanceof Error) {
      failures += 1;
      if (performance.now() - lastContact > awaited.patienceMs)
        throw new TinkerUnreachableError(awaited, transport.baseUrl, failures, response);
      await transport.sleep(Math.min(transport.backoff(failures), left), awaited.signal);
      continue;
    }
    const { status } = response;
    if (status === 400 && ++badRequests < badRequestTries) continue;
    if (status === 400) throw new TinkerRequestFailedError(awaited, detailOf(response), "unknown");
    if (status === 404 || status === 410) throw new TinkerResultGoneError({ ...awaited, status });
    failures = 0;
    lastContact = performance.now();
    const payload = status === 408 ? "pending" : readPayload(response, awaited);
    if (payload !== "pending") return payload;
    if (performance.now() - began < quickPollMs) await transport.sleep(quickPollMs, awaited.signal);
  }
}

/** A poll changes nothing, so a conflict is no reason to give up either. */
function isLater(error: unknown): boolean {
  if (error instanceof TinkerStatusError)
    return error.status === 409 || isWorthRetrying(error.status);
  return error instanceof Error && ["TypeError", "TimeoutError", "AbortError"].includes(error.name);
}

function poll(
  transport: Transport,
  { requestId, type, acceptProto, signal }: AwaitedRequest,
  iteration: number,
): Promise<UpstreamResponse> {
  return transport.send({
    method: "POST",
    path: "/api/v1/retrieve_future",
    body: JSON.stringify({ request_id: requestId, allow_metadata_only: false }),
    headers: {
      accept: acceptProto ? protoMediaType : "application/json",
      "x-tinker-request-iteration": String(iteration),
      "x-tinker-request-type": type,
    },
    accept: (status) => [400, 404, 408, 410].includes(status),
    once: true,
    ...defined({ signal }),
  });
}

function readPayload(response: UpstreamResponse, awaited: AwaitedRequest): Payload | "pending" {
  if ((response.headers.get("content-type") ?? "").includes(protoMediaType))
    return { kind: "proto", bytes: response.bytes };
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(new TextDecoder().decode(response.bytes)) as Record<string, unknown>;
  } catch {
    throw new TinkerWireError(`The result of ${awaited.request} is no JSON.`, { ...awaited });
  }
  if (value["type"] === "try_again" || value["status"] === "complete_metadata") return "pending";
  if (typeof value["error"] === "string")
    throw new TinkerRequestFailedError(
      awaited,
      value["error"],
      typeof value["category"] === "string" ? value["category"] : "unknown",
    );
  return { kind: "json", value };
}
