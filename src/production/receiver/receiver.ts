/**
 * Takes traces (`POST /v1/traces`, OTLP over HTTP) and feedback (`POST /feedback`) into a store: a function from a
 * request to a response. What it acknowledges is on the disk.
 */
import { AgentTrainerError } from "../../core/errors.ts";
import { StoreError } from "../../gateway/store/store-error.ts";
import { ByteBudget } from "../../http/bodies.ts";
import { isSameToken } from "../../http/keys.ts";
import { isForeign, localClientsOnly } from "../../http/local-clients.ts";
import type { FeedbackInput } from "../store/feedback.ts";
import type { ProductionStore } from "../store/production-store.ts";
import { type CollectCounts, emptyCounts, keepOtlp } from "./keep-otlp.ts";
import { readJsonRequest } from "../otlp/read-json.ts";
import { readProtobufRequest } from "../otlp/read-protobuf.ts";
import { encodingOf, otlpAccepted, type OtlpEncoding, otlpRefused } from "./otlp-response.ts";
import { Refusal, withBody } from "./read-request.ts";

export interface ReceiverOptions {
  readonly store: ProductionStore;
  /** What clients must send, as `Authorization: Bearer KEY`; null serves programs of this machine only. */
  readonly key: string | null;
  /** Of a body, as it is sent; unpacked it may have four times as many. @default 16 MiB */
  readonly maxBodyBytes?: number;
  /** Spans of a request; those after them are rejected. @default 100,000 */
  readonly maxSpans?: number;
}

export interface Receiver {
  readonly counts: CollectCounts;
  /** Never rejects: failures are responses. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Bodies in memory, as a multiple of one. */
const bodiesAtOnce = 16;
/** OpenTelemetry's, and those that the SDKs of Langfuse and Braintrust add to the address they are given. */
const tracesPaths: ReadonlySet<string> = new Set([
  "/v1/traces",
  "/api/public/otel/v1/traces",
  "/otel/v1/traces",
]);

const maxFeedback = 10_000;

const json = (status: number, body: object): Response => Response.json(body, { status });

export function createReceiver({
  store,
  key,
  maxBodyBytes = 16 * 2 ** 20,
  maxSpans = 100_000,
}: ReceiverOptions): Receiver {
  const counts = emptyCounts();
  const limits = { maxBytes: maxBodyBytes, budget: new ByteBudget(bodiesAtOnce * maxBodyBytes) };

  function checkClient(request: Request): void {
    if (key === null) {
      if (isForeign(request.url, request.headers.get("origin")))
        throw new Refusal(403, localClientsOnly);
      return;
    }
    const given = /^bearer\s+(\S+)$/iu.exec(request.headers.get("authorization") ?? "")?.[1];
    if (given === undefined || !isSameToken(given, key))
      throw new Refusal(401, "Send the key as Authorization: Bearer KEY.");
  }

  async function takeTraces(body: Buffer, encoding: OtlpEncoding): Promise<Response> {
    let read;
    try {
      read =
        encoding === "application/json"
          ? readJsonRequest(JSON.parse(body.toString()), maxSpans)
          : readProtobufRequest(body, maxSpans);
    } catch (error) {
      await store.reject([
        {
          at: "/v1/traces",
          reason: (error as Error).message,
          text: body.toString("utf8", 0, 4096),
        },
      ]);
      counts.rejected++;
      throw new Refusal(400, `This is no ExportTraceServiceRequest: ${(error as Error).message}`);
    }
    const { rejected, why } = await keepOtlp(store, read, "/v1/traces", counts);
    return otlpAccepted(encoding, rejected, why);
  }

  async function takeFeedback(body: Buffer): Promise<Response> {
    let given: unknown;
    try {
      given = JSON.parse(body.toString());
    } catch {
      throw new Refusal(400, "The body is not JSON.");
    }
    const list = (Array.isArray(given) ? given : [given]) as readonly FeedbackInput[];
    if (list.length > maxFeedback)
      throw new Refusal(413, `${maxFeedback} pieces of feedback are the limit.`);
    await store.addFeedback(list);
    counts.feedback += list.length;
    return json(200, { accepted: list.length });
  }

  async function respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const isTraces = tracesPaths.has(pathname);
    if (!isTraces && pathname !== "/feedback")
      return json(404, {
        error: { message: `${pathname} is not here: /v1/traces and /feedback are.` },
      });
    const encoding = isTraces ? encodingOf(request.headers.get("content-type")) : null;
    try {
      if (request.method !== "POST") throw new Refusal(405, "Only POST is taken.");
      checkClient(request);
      if (!isTraces) return await withBody(request, limits, takeFeedback);
      if (encoding === null)
        throw new Refusal(415, "Send application/x-protobuf or application/json.");
      return await withBody(request, limits, (body) => takeTraces(body, encoding));
    } catch (error) {
      const { status, message } = refusalOf(error);
      if (isTraces) return otlpRefused(encoding ?? "application/json", status, message);
      return json(status, { error: { message } });
    }
  }

  return { counts, fetch: respond };
}

function refusalOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof Refusal) return error;
  // A full disk may have room again: exporters keep what they have for a while.
  if (error instanceof StoreError) return { status: 503, message: error.message };
  if (AgentTrainerError.isInstance(error) && error.code === "REQUEST_INVALID")
    return { status: 400, message: error.message };
  return { status: 500, message: "The request could not be kept." };
}
