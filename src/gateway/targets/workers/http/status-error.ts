/** An HTTP status of a worker to the client's error, and whether another try may help. */
import { isJsonObject } from "../../../../util/json-object.ts";
import { readRetryAfterMs } from "../../../../util/retry.ts";
import { UpstreamError } from "../upstream-error.ts";

/** Longest part of a worker's own words that is passed on. */
const maxWords = 500;

const overflow =
  /context (?:length|limit|window|size)|maximum context|max_model_len|too long|exceed_context/i;

function wordsOf(body: string): string {
  try {
    const json: unknown = JSON.parse(body);
    if (!isJsonObject(json)) return "";
    const { error, message, detail } = json;
    const words = isJsonObject(error) ? error.message : (error ?? message ?? detail);
    return typeof words === "string" ? words.slice(0, maxWords) : "";
  } catch {
    // An HTML page of a proxy is of no use to a client.
    return "";
  }
}

const dayMs = 86_400_000;

export interface FailedStatus {
  readonly workerId: string;
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** Statuses that blame the gateway, not the client. */
const gatewayFaults = new Set([401, 402, 403, 404, 405, 407, 415]);

export function statusError({ workerId, status, retryAfter, body }: FailedStatus): UpstreamError {
  const words = wordsOf(body);
  // Told to the client, too; a longer wait than the call may take is not begun here.
  const retryMs = readRetryAfterMs(retryAfter, Date.now(), dayMs);
  const wait = retryMs === undefined ? {} : { retryAfterS: retryMs / 1000 };
  const responded = `The worker "${workerId}" responded with ${status}${words === "" ? "" : `: ${words}`}`;
  if (status === 429) {
    const reason = "rate_limit_exceeded";
    const failure = "overloaded";
    return new UpstreamError({ failure, status, reason, message: responded, workerId, ...wait });
  }
  if (status >= 500 || status < 400) {
    const shown = status >= 500 && status <= 599 ? { status } : {};
    // Other than the statuses of load and of proxies, it has been tried often enough by then.
    const final = status === 500 || status === 501 ? { retry: false } : {};
    return new UpstreamError({
      failure: "failed",
      message: responded,
      workerId,
      ...shown,
      ...final,
      ...wait,
    });
  }
  if (gatewayFaults.has(status)) {
    // Passed on as it is, the client would blame its token or URL.
    const reason = "upstream_refused";
    return new UpstreamError({
      failure: "refused",
      status: 502,
      reason,
      message: responded,
      workerId,
    });
  }
  if (overflow.test(words)) {
    return new UpstreamError({
      failure: "refused",
      message: words,
      workerId,
      status: 400,
      reason: "context_length_exceeded",
      code: "CONTEXT_OVERFLOW",
      param: "messages",
    });
  }
  return new UpstreamError({
    failure: "refused",
    status,
    reason: "upstream_refused",
    message: responded,
    workerId,
    code: "REQUEST_INVALID",
  });
}
