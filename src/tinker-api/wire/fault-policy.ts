/** What failed attempts mean: wait and try again, send the original request again, or give up. */
import { backOffMs, type BackOff } from "../../util/retry.ts";

/** Which request it was, for messages and logs. */
export interface TinkerRequestName {
  /** `POST /api/v1/optim_step`, for example. */
  readonly request: string;
  /** HTTP status; absent without a response. */
  readonly status?: number;
  /** Id of the future that failed. */
  readonly requestId?: string;
  readonly seqId?: number;
}

/** An attempt that failed. */
export interface Fault {
  /** null without a response. */
  readonly status: number | null;
  /** What the server says, in one line; "" without a response. */
  readonly detail: string;
  readonly headers: Headers;
  /** How long the attempt took. */
  readonly spentMs: number;
  readonly error: Error;
}

/** `submit`: a request under its idempotency key. `poll`: asks for a result. */
export type RequestKind = "submit" | "poll";

export type Verdict =
  | { readonly do: "retry"; readonly afterMs: number }
  /** The result is lost: the original request is to be sent again, with the same key. */
  | { readonly do: "reissue" }
  | { readonly do: "fail"; readonly error: Error };

/** `later`: after a back-off, or what the server wishes, while patience lasts. */
type Meaning = Verdict | { readonly do: "later"; readonly wishMs?: number | null };

/** The faults of a service. */
export interface FaultRules {
  readonly backOff: BackOff;
  /** How long a server may be unreachable or overloaded. */
  readonly patienceMs: number;
  /** @param seen how many of this status there were since the last success; from 500 on, all are one. */
  meaningOf(fault: Fault, kind: RequestKind, seen: number, where: TinkerRequestName): Meaning;
  /** The error when patience is at its end. */
  exhausted(fault: Fault, where: TinkerRequestName, failures: number): Error;
}

/** One for each logical request, since limits count all of its attempts. */
export class FaultPolicy {
  readonly #rules: FaultRules;
  readonly #kind: RequestKind;
  readonly #where: TinkerRequestName;
  readonly #seen = new Map<number | null, number>();
  #failures = 0;
  #waitedMs = 0;

  constructor(rules: FaultRules, kind: RequestKind, where: TinkerRequestName) {
    this.#rules = rules;
    this.#kind = kind;
    this.#where = where;
  }

  /** After a response that was none of the faults: an outage is over. */
  recovered(): void {
    this.#seen.clear();
    this.#failures = 0;
    this.#waitedMs = 0;
  }

  after(fault: Fault): Verdict {
    const { status, spentMs } = fault;
    const key = status === null ? null : Math.min(status, 500);
    const seen = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, seen);
    const { backOff, patienceMs, ...rules } = this.#rules;
    const meaning = rules.meaningOf(fault, this.#kind, seen, this.#where);
    if (meaning.do !== "later") return meaning;
    this.#failures += 1;
    const afterMs = meaning.wishMs ?? backOffMs(this.#failures, backOff);
    if (this.#waitedMs + afterMs > patienceMs)
      return { do: "fail", error: rules.exhausted(fault, this.#where, this.#failures) };
    // Time spent in a call that went wrong counts, too.
    this.#waitedMs += afterMs + spentMs;
    return { do: "retry", afterMs };
  }
}
