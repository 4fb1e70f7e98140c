/** What OTLP/HTTP answers: in the encoding of the request. https://opentelemetry.io/docs/specs/otlp/#otlphttp-response */
import { ProtoWriter } from "../../util/protobuf-writer.ts";

export type OtlpEncoding = "application/json" | "application/x-protobuf";

export const encodingOf = (contentType: string | null): OtlpEncoding | null => {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  return type === "application/json" || type === "application/x-protobuf" ? type : null;
};

function responseOf(
  encoding: OtlpEncoding,
  status: number,
  json: object,
  proto: ProtoWriter,
  retryAfter?: number,
): Response {
  const headers = new Headers({ "content-type": encoding });
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  const body = encoding === "application/json" ? JSON.stringify(json) : proto.finish();
  return new Response(body, { status, headers });
}

/** `ExportTraceServiceResponse`; without a partial success where all was taken. */
export function otlpAccepted(encoding: OtlpEncoding, rejected: number, why: string): Response {
  if (rejected === 0) return responseOf(encoding, 200, {}, new ProtoWriter());
  const partialSuccess = { rejectedSpans: String(rejected), errorMessage: why };
  const partial = new ProtoWriter().integer(1, rejected).string(2, why);
  return responseOf(encoding, 200, { partialSuccess }, new ProtoWriter().message(1, partial));
}

const retryAfterSeconds = 5;

/** google.rpc.Status; its codes are those of gRPC. */
export function otlpRefused(encoding: OtlpEncoding, status: number, message: string): Response {
  const code = status === 503 ? 14 : status === 401 ? 16 : 3;
  const proto = new ProtoWriter().integer(1, code).string(2, message);
  const retryAfter = status === 503 ? retryAfterSeconds : undefined;
  return responseOf(encoding, status, { code, message }, proto, retryAfter);
}
