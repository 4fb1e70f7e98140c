/** Errors as Fireworks sends them: the gateway's for training and inference, Google's for accounts. */
import type { WireFailure } from "../request-error.ts";

interface Kind {
  readonly code: string;
  readonly type: string;
  /** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
  readonly rpc: number;
}

const badRequest: Kind = { code: "INVALID_ARGUMENT", type: "invalid_request_error", rpc: 3 };
const kinds: Readonly<Record<number, Kind>> = {
  401: { code: "UNAUTHENTICATED", type: "authentication_error", rpc: 16 },
  404: { code: "NOT_FOUND", type: "not_found_error", rpc: 5 },
  409: { code: "ALREADY_EXISTS", type: "conflict_error", rpc: 6 },
  410: { code: "GONE", type: "not_found_error", rpc: 5 },
  429: { code: "RESOURCE_EXHAUSTED", type: "rate_limit_error", rpc: 8 },
  500: { code: "INTERNAL", type: "server_error", rpc: 13 },
};

export function gatewayError({ status, message }: WireFailure): object {
  const { code, type } = kinds[status] ?? badRequest;
  return { error: { code, type, message } };
}

export function accountError({ status, message }: WireFailure): object {
  const { code, rpc } = kinds[status] ?? badRequest;
  const type = "type.googleapis.com/google.rpc.ErrorInfo";
  const info = { "@type": type, reason: code, domain: "agent-trainer", metadata: {} };
  return { code: rpc, message, details: [info] };
}
