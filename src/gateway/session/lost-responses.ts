/**
 * Finished calls of a session whose responses may have been lost on the way to their clients. A client that
 * sends such a call again gets the response that was captured, instead of a second one that was never asked for.
 */
import { isDeepStrictEqual } from "node:util";
import type { CallRequest, CallResult } from "../call/call-request.ts";

interface Outcome {
  readonly request: CallRequest;
  readonly trajectoryUid: string | null;
  /** Null for a call that failed: its repetition is a new call. */
  readonly result: CallResult | null;
}

/** Clients repeat a call within seconds, before they make many others. */
const kept = 16;

export class LostResponses {
  #outcomes: readonly Outcome[] = [];

  /** How a call ended, of a client that says when it repeats one. */
  keep(request: CallRequest, trajectoryUid: string | null, result: CallResult | null): void {
    this.#outcomes = [...this.#outcomes, { request, trajectoryUid, result }].slice(-kept);
  }

  /** The result of the call that this one repeats; undefined where that failed or is not known. Once. */
  take(request: CallRequest, trajectoryUid: string | null): CallResult | undefined {
    const equal = this.#outcomes.filter(
      (one) => one.trajectoryUid === trajectoryUid && isDeepStrictEqual(one.request, request),
    );
    // Of equal calls it repeats one that failed, if there is one.
    const repeated = equal.find(({ result }) => result === null) ?? equal.at(-1);
    this.#outcomes = this.#outcomes.filter((one) => one !== repeated);
    return repeated?.result ?? undefined;
  }
}
