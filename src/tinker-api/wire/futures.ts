/**
 * Requests whose response is a future: they are sent, and their result is asked for until it is there.
 * Knows what each response means, not what the result is.
 */
import { randomUUID } from "node:crypto";
import { DeadlineError } from "../../core/errors.ts";
import { protoMediaType } from "../codec/proto-codec.ts";
import { FaultPolicy } from "./fault-policy.ts";
import {
  nameOf,
  type HttpCall,
  type HttpResponse,
  type Json,
  type Transport,
} from "./transport.ts";

/** Of one call. */
export interface TinkerCallOptions {
  /** Gives up waiting; a request that the server has is carried out nevertheless. */
  readonly signal?: AbortSignal;
  /** Longest wait for the result, in milliseconds. @default that of the client */
  readonly deadlineMs?: number;
}

/** A finished request's payload: JSON, or the bytes of a protobuf message. */
export type Payload =
  | { readonly kind: "json"; readonly value: Json }
  | { readonly kind: "proto"; readonly bytes: Uint8Array };

/** A request that the server has taken. */
export interface Issued {
  readonly request: string;
  readonly requestId: string;
  readonly modelId: string | null;
  /** The original with its key, where a lost result is renewed by it. */
  readonly renewal: HttpCall | null;
}

export interface Awaited extends TinkerCallOptions {
  /** `X-Tinker-Request-Type`: what is waited for, for the server's statistics. */
  readonly type: string;
  /** The result may come as protobuf. @default false */
  readonly acceptProto?: boolean;
  /** For errors. */
  readonly seqId?: number;
}

/** Between polls that the server ends faster than it should. */
const quickPollMs = 100;
/** A server that loses the same result again and again will not keep it. */
const maxReissues = 5;

/** Sends it until the server has taken it. */
export async function issue(transport: Transport, call: HttpCall): Promise<Issued> {
  const keyed = { ...call, idempotencyKey: call.idempotencyKey ?? randomUUID() };
  const acknowledged = await transport.json(keyed);
  const { model_id: modelId } = acknowledged;
  return {
    request: nameOf(call),
    requestId: transport.field(acknowledged, "request_id"),
    modelId: typeof modelId === "string" ? modelId : null,
    renewal: transport.profile.renewsResults ? keyed : null,
  };
}

/**
 * @throws the service's error when the server failed at it, or does not know it any more.
 * @throws DeadlineError when it takes too long; the server continues it.
 */
export async function awaitResult(
  transport: Transport,
  issued: Issued,
  { type, acceptProto = false, signal, seqId, ...options }: Awaited,
): Promise<Payload> {
  const { profile, settings } = transport;
  const { request, renewal } = issued;
  const { deadlineMs = settings.deadlineMs } = options;
  let { requestId } = issued;
  const where = { request, requestId, ...(seqId === undefined ? {} : { seqId }) };
  const policy = new FaultPolicy(profile.faults, "poll", where);
  const start = performance.now();
  let metadataOnly = profile.asksForSize;
  let reissues = 0;
  for (let iteration = 0; ; iteration++) {
    const began = performance.now();
    const left = deadlineMs - (began - start);
    if (left <= 0) throw new DeadlineError(request, deadlineMs);
    const outcome = await transport.attempt({
      method: "POST",
      path: transport.route("retrieve_future"),
      json: { request_id: requestId, allow_metadata_only: metadataOnly },
      headers: {
        ...(acceptProto ? { accept: protoMediaType } : {}),
        "x-tinker-request-iteration": String(iteration),
        "x-tinker-request-type": type,
      },
      // A long poll that had no result in time.
      accept: (status) => status === 408,
      signal,
    });
    let waitMs = 0;
    if (outcome.kind === "ok") {
      policy.recovered();
      const result = read(outcome.response);
      if (typeof result !== "string") return result;
      if (result === "size") metadataOnly = false;
    } else {
      const verdict = policy.after(outcome.fault);
      if (verdict.do === "fail") throw verdict.error;
      if (verdict.do === "reissue") {
        if (renewal === null || ++reissues > maxReissues) throw outcome.fault.error;
        settings.onWarning(`${request}: its result was lost; sending it again.`);
        ({ requestId } = await issue(transport, renewal));
        continue;
      }
      waitMs = verdict.afterMs;
      if (waitMs > 0) transport.warnOfRetry("Waiting for a result", outcome.fault.error);
    }
    if (performance.now() - began < quickPollMs) waitMs = Math.max(waitMs, quickPollMs);
    if (waitMs > 0) await transport.sleep(Math.min(waitMs, left), signal);
  }

  function read(response: HttpResponse): Payload | "pending" | "size" {
    if (response.status === 408) return "pending";
    if ((response.headers.get("content-type") ?? "").includes(protoMediaType))
      return { kind: "proto", bytes: response.bytes };
    const value = transport.parse(response, request);
    if (value["type"] === "try_again") return "pending";
    if (value["status"] === "complete_metadata") return "size";
    const { error, category = "unknown", error_class: errorClass = null } = value;
    if (error === undefined || error === null) return { kind: "json", value };
    const detail = typeof error === "string" ? error : JSON.stringify(error);
    throw profile.errors.failed(where, { detail, category: String(category), errorClass });
  }
}

/** The JSON of a result that is no tensor. @throws the service's error */
export async function awaitJson(
  transport: Transport,
  issued: Issued,
  awaited: Awaited,
): Promise<Json> {
  const payload = await awaitResult(transport, issued, awaited);
  if (payload.kind === "json") return payload.value;
  throw transport.profile.errors.wire(
    `The result of ${issued.request} came as protobuf, which was not requested.`,
  );
}
