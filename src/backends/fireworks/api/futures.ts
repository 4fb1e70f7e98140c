/**
 * Requests whose response is a promise: they are sent, and their result is asked for until it is there. A
 * promise that the server has lost is renewed by sending the original request again, under its
 * idempotency key, so that nothing is done twice.
 */
import { DeadlineError } from "../../../core/errors.ts";
import { FaultPolicy } from "./fault-policy.ts";
import { FireworksError } from "./fireworks-error.ts";
import { parseJson, textField, type FireworksHttp, type HttpCall } from "./http.ts";

type Json = Readonly<Record<string, unknown>>;

/** Of one call. */
export interface FireworksCallOptions {
  /** Stops waiting; a request that the server has is carried out nevertheless. */
  readonly signal?: AbortSignal;
}

/** What was promised for which request. */
export interface Issued {
  readonly requestId: string;
  readonly modelId: string | undefined;
  /** The original, with its key. */
  readonly call: HttpCall & { readonly idempotencyKey: string };
}

/** A server may do without long polls. */
const quickPollMs = 100;
/** A server that loses the same promise again and again will not keep it. */
const maxReissues = 5;

export class Futures {
  readonly #http: FireworksHttp;

  constructor(http: FireworksHttp) {
    this.#http = http;
  }

  /** Path of a route of the training API. */
  route(name: string): string {
    return this.#http.route(name);
  }

  /** Sends it until the server has taken it. */
  async issue(call: Issued["call"]): Promise<Issued> {
    const acknowledged = await this.#http.json(call);
    const { model_id: modelId } = acknowledged;
    return {
      requestId: textField(acknowledged, "request_id"),
      modelId: typeof modelId === "string" ? modelId : undefined,
      call,
    };
  }

  /**
   * @param type what is waited for, for the server's statistics.
   * @throws FireworksError when the server failed at it.
   * @throws DeadlineError when it takes too long; the server continues it.
   */
  async result(issued: Issued, type: string, { signal }: FireworksCallOptions = {}): Promise<Json> {
    const { deadlineMs, patienceMs } = this.#http.settings;
    const request = `POST ${issued.call.path}`;
    const policy = new FaultPolicy("poll", { patienceMs });
    const start = performance.now();
    let { requestId } = issued;
    let metadataOnly = true;
    let reissues = 0;
    for (let iteration = 0; ; iteration++) {
      if (performance.now() - start > deadlineMs) throw new DeadlineError(request, deadlineMs);
      const began = performance.now();
      const outcome = await this.#http.attempt({
        method: "POST",
        path: this.route("retrieve_future"),
        body: { request_id: requestId, allow_metadata_only: metadataOnly },
        headers: {
          "x-tinker-request-iteration": String(iteration),
          "x-tinker-request-type": type,
        },
        signal,
      });
      if (outcome.kind === "fault") {
        const verdict = policy.after(outcome.fault);
        if (verdict.do === "fail") throw outcome.error;
        if (verdict.do === "reissue") {
          if (++reissues > maxReissues) throw outcome.error;
          this.#http.settings.onWarning(`${request}: its result was lost; sending it again.`);
          ({ requestId } = await this.issue(issued.call));
          continue;
        }
        if (verdict.afterMs > 0) this.#http.warnOfRetry("Waiting for a result", outcome.error);
        await this.#http.sleep(Math.max(verdict.afterMs, quickPollMs), signal);
        continue;
      }
      policy.recovered();
      const value = parseJson(outcome.response, request);
      const state = stateOf(value, request);
      if (state === "done") return value;
      if (state === "metadata") metadataOnly = false;
      else if (performance.now() - began < quickPollMs) await this.#http.sleep(quickPollMs, signal);
    }
  }
}

/** @throws FireworksError for a failure */
function stateOf(value: Json, request: string): "pending" | "metadata" | "done" {
  if (value["type"] === "try_again") return "pending";
  if (value["status"] === "complete_metadata") return "metadata";
  const { error, category = "unknown", error_class: errorClass } = value;
  if (error === undefined || error === null) return "done";
  const detail = typeof error === "string" ? error : JSON.stringify(error);
  throw new FireworksError({
    message: `${request} failed on the server (${String(category)}): ${detail}`,
    fields: { request, detail, category, errorClass: errorClass ?? null },
  });
}
