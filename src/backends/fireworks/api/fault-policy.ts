/** What every fault of Fireworks means. Pure; knows no HTTP client. */
import type { FaultRules } from "../../../tinker-api/wire/fault-policy.ts";

const billingMs = 5_000;
const maxBillingMs = 3_600_000;
/** A proxy may send a stray 400; a real one comes again. */
const maxBadRequests = 3;
/** Server errors that are tried again at once; from then on with back-off. */
const quickServerErrors = 3;

/** Conflicts that will stay as they are. */
const lasting = /already exists|idempotency|conflicts with durable/iu;
/** Conflicts that mean: no room at the moment. */
const capacity = /capacity|recovery_required|resource_exhausted/iu;

const later = { do: "later" } as const;
const now = { do: "retry", afterMs: 0 } as const;

export function faultRules({ patienceMs }: { readonly patienceMs: number }): FaultRules {
  return {
    backOff: { firstMs: 1_000, maxMs: 30_000 },
    patienceMs,
    meaningOf({ status, detail, error }, kind, seen) {
      const fail = { do: "fail", error } as const;
      const isPoll = kind === "poll";
      if (status === null) return later;
      if (status >= 500) return seen <= quickServerErrors ? now : later;
      switch (status) {
        case 400:
          return isPoll && seen < maxBadRequests ? now : fail;
        case 402:
          return seen * billingMs > maxBillingMs ? fail : { do: "retry", afterMs: billingMs };
        case 409:
          return !lasting.test(detail) && capacity.test(detail) ? later : fail;
        case 410:
          return isPoll ? { do: "reissue" } : fail;
        case 408:
        case 425:
        case 429:
          return later;
        default:
          return fail;
      }
    },
    exhausted: ({ error }) => error,
  };
}
