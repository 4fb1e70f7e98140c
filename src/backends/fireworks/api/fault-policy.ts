/**
 * What a failed attempt means: wait and try again, send the original request again, or give up. One
 * object for one logical request, since limits count all of its attempts. Pure; knows no HTTP client.
 */
import { backOffMs } from "../../../util/retry.ts";

/** `submit`: a request that changes something, under its idempotency key. `poll`: asks for a result. */
export type RequestKind = "submit" | "poll";

export type Fault =
  | { readonly kind: "connection" }
  | { readonly kind: "status"; readonly status: number; readonly detail: string };

export type Verdict =
  | { readonly do: "retry"; readonly afterMs: number }
  /** The promise is lost: the original request is to be sent again, with the same key. */
  | { readonly do: "reissue" }
  | { readonly do: "fail" };

export interface FaultLimits {
  /** How long to wait, in total, for a server that cannot be reached or is overloaded. */
  readonly patienceMs: number;
}

const firstMs = 1_000;
const maxMs = 30_000;
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

export class FaultPolicy {
  readonly #kind: RequestKind;
  readonly #limits: FaultLimits;
  #failures = 0;
  #serverErrors = 0;
  #badRequests = 0;
  #waitedMs = 0;
  #billingMs = 0;

  constructor(kind: RequestKind, limits: FaultLimits) {
    this.#kind = kind;
    this.#limits = limits;
  }

  /** After a response that was none of the faults: an outage is over. */
  recovered(): void {
    this.#failures = 0;
    this.#serverErrors = 0;
    this.#badRequests = 0;
    this.#waitedMs = 0;
    this.#billingMs = 0;
  }

  after(fault: Fault): Verdict {
    if (fault.kind === "connection") return this.#backOff();
    const { status, detail } = fault;
    if (status >= 500) return this.#serverError();
    switch (status) {
      case 400:
        return this.#kind === "poll" && ++this.#badRequests < maxBadRequests
          ? { do: "retry", afterMs: 0 }
          : { do: "fail" };
      case 402:
        this.#billingMs += billingMs;
        return this.#billingMs > maxBillingMs
          ? { do: "fail" }
          : { do: "retry", afterMs: billingMs };
      case 408:
        return this.#kind === "poll" ? { do: "retry", afterMs: 0 } : this.#backOff();
      case 409:
        return !lasting.test(detail) && capacity.test(detail) ? this.#backOff() : { do: "fail" };
      case 410:
        return this.#kind === "poll" ? { do: "reissue" } : { do: "fail" };
      case 425:
      case 429:
        return this.#backOff();
      default:
        return { do: "fail" };
    }
  }

  #serverError(): Verdict {
    this.#serverErrors += 1;
    return this.#serverErrors <= quickServerErrors ? { do: "retry", afterMs: 0 } : this.#backOff();
  }

  #backOff(): Verdict {
    this.#failures += 1;
    const afterMs = backOffMs(this.#failures, { firstMs, maxMs });
    this.#waitedMs += afterMs;
    return this.#waitedMs > this.#limits.patienceMs ? { do: "fail" } : { do: "retry", afterMs };
  }
}
