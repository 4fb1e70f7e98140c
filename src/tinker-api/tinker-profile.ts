/** Tinker's service, hosted or self-hosted, as the client of the protocol sees it. */
import { readRetryAfterMs } from "../util/retry.ts";
import type { ClientSettings } from "./client-options.ts";
import {
  TinkerModelLostError,
  TinkerRequestFailedError,
  TinkerResultGoneError,
  TinkerStatusError,
  TinkerUnreachableError,
  TinkerWireError,
} from "./tinker-error.ts";
import type { FaultRules } from "./wire/fault-policy.ts";
import type { ServerProfile } from "./wire/server-profile.ts";
import { reasonOf } from "./wire/transport.ts";

/** @param key what opens the server now. */
export function tinkerProfile(settings: ClientSettings, key: () => Promise<string>): ServerProfile {
  return {
    service: "The Tinker server",
    prefix: "",
    // More than the samples or log-probabilities of any request.
    maxResponseBytes: 2 ** 30,
    asksForSize: false,
    renewsResults: false,
    acceptsProto: true,
    // Some servers return none.
    hasAllOutputs: false,
    errors: {
      connection: (_, cause) => new TypeError(reasonOf(cause), { cause }),
      status: (request, status, detail, tries) =>
        new TinkerStatusError({ request, status }, detail, tries),
      wire: (message, fields) => new TinkerWireError(message, fields),
      failed: (where, { detail, category }) =>
        new TinkerRequestFailedError(where, detail, category),
      modelLost: (modelId, cause) => new TinkerModelLostError(modelId, cause),
    },
    async headers(method, idempotencyKey, tries) {
      return {
        "x-api-key": await key(),
        ...(method === "GET" ? {} : { "x-idempotency-key": idempotencyKey }),
        ...(tries > 1 ? { "x-stainless-retry-count": String(tries - 1) } : {}),
      };
    },
    faults: faultRules(settings),
  };
}

/** A conflict may be momentary, but one that says what it is will stay. */
const conflictTries = 4;
const lastingConflict = /already exists|already (?:public|private)|sequence number/iu;
/** A proxy may send a stray 400; a real one comes again. */
const badRequestTries = 4;
/** The server's own wish is followed up to here. */
const maxWishMs = 60_000;

/** Waiting turns no refusal into a success, apart from these. */
function isWorthRetrying(status: number): boolean {
  return [402, 408, 425, 429].includes(status) || status >= 500;
}

function faultRules({ patienceMs, random, baseUrl }: ClientSettings): FaultRules {
  return {
    // Spread, so that clients do not come back together.
    backOff: { firstMs: 500, maxMs: 10_000, jitter: 0.25, random },
    patienceMs,
    meaningOf({ status, detail, headers, error }, kind, seen, where) {
      const fail = (reason: Error = error) => ({ do: "fail", error: reason }) as const;
      const later = { do: "later", wishMs: wishOf(headers) } as const;
      if (kind === "poll") {
        if (status === 400)
          return seen < badRequestTries
            ? { do: "retry", afterMs: 0 }
            : fail(new TinkerRequestFailedError(where, detail, "unknown"));
        if (status === 404 || status === 410)
          return fail(new TinkerResultGoneError({ ...where, status }));
        // A poll changes nothing, so a conflict is no reason to give up either.
        return status === null || status === 409 || isWorthRetrying(status) ? later : fail();
      }
      const wish = headers.get("x-should-retry");
      if (wish === "true" || status === null) return later;
      if (wish === "false") return fail();
      if (status === 409)
        return seen < conflictTries && !lastingConflict.test(detail) ? later : fail();
      return isWorthRetrying(status) ? later : fail();
    },
    exhausted({ status, error }, where, failures) {
      if (status !== null && status < 500 && status !== 408) return error;
      const failed = status === null ? where : { ...where, status };
      return new TinkerUnreachableError(failed, baseUrl, failures, error);
    },
  };
}

function wishOf(headers: Headers): number | null {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  const wish = Number.isFinite(ms) ? ms : readRetryAfterMs(headers.get("retry-after"));
  return wish !== undefined && wish > 0 && wish <= maxWishMs ? wish : null;
}
