/** Errors as Fireworks' gateway sends them. */
import type { WireFailure } from "../../../src/tinker-server/request-error.ts";

interface Kind {
  readonly code: string;
  readonly type: string;
}

const badRequest: Kind = { code: "INVALID_ARGUMENT", type: "invalid_request_error" };
const kinds: Readonly<Record<number, Kind>> = {
  401: { code: "UNAUTHENTICATED", type: "authentication_error" },
  404: { code: "NOT_FOUND", type: "not_found_error" },
  409: { code: "ALREADY_EXISTS", type: "conflict_error" },
  410: { code: "GONE", type: "not_found_error" },
  429: { code: "RESOURCE_EXHAUSTED", type: "rate_limit_error" },
  500: { code: "INTERNAL", type: "server_error" },
};

export function gatewayError({ status, message }: WireFailure): object {
  const { code, type } = kinds[status] ?? badRequest;
  return { error: { code, type, message } };
}
