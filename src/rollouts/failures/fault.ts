/**
 * What caused an attempt to fail, by the thrown error and the server's response. Decides what is
 * retried and what is scored; never throws, whatever was thrown.
 */
import { AgentTrainerError } from "../../core/errors.ts";

export function readField(holder: object, key: string): unknown {
  try {
    return (holder as Readonly<Record<string, unknown>>)[key];
  } catch {
    return undefined;
  }
}

/**
 * `infrastructure`: a connection, the inference server, the setup; `result`: the program returned an
 * invalid result, so its code is wrong; `agent`: anything else it threw, or its time limit.
 */
export type Fault = "infrastructure" | "result" | "agent";

export interface Verdict {
  readonly fault: Fault;
  /** The same request would be refused again: a 4xx. */
  readonly isFinal: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Limit on nested errors that are inspected; SDKs wrap a few times. */
const maxErrors = 12;

const connectionCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);
const connectionNames = new Set(["APIConnectionError", "APIConnectionTimeoutError"]);
/** The gateway's codes for its failures and those of the servers behind it, also in mid-stream. */
const serverCode = /^(?:upstream_\w+|store_failed|internal_error|paused)$/u;
/** Transient statuses: worth a retry, and not caused by the model. */
const passing = new Set([408, 425, 429]);

/** @param serverError the error of the session's last call, if it was one of the server. */
export function verdictOf(
  thrown: unknown,
  isTimeout: boolean,
  serverError: string | null,
): Verdict {
  const seen = isTimeout ? null : firstSign(thrown, serverError);
  if (seen !== null) return seen;
  // An agent with plain fetch may throw anything; the gateway knows how it responded.
  if (serverError !== null) return { fault: "infrastructure", isFinal: false };
  return { fault: isWrongResult(thrown) ? "result" : "agent", isFinal: false };
}

/** The outermost error that identifies the fault. */
function firstSign(thrown: unknown, serverError: string | null): Verdict | null {
  const queue: unknown[] = [thrown];
  for (let i = 0; i < queue.length && i < maxErrors; i++) {
    const error = queue[i];
    if (!isObject(error)) continue;
    const verdict = signOf(error, serverError);
    if (verdict !== null) return verdict;
    const several = readField(error, "errors");
    queue.push(readField(error, "cause"), readField(error, "lastError"));
    if (Array.isArray(several)) queue.push(...(several as unknown[]));
  }
  return null;
}

function signOf(error: Fields, serverError: string | null): Verdict | null {
  const codes = codesOf(error);
  if (["ENVIRONMENT_FAILED", "USER_FAILED"].includes(textOf(error, "code")))
    return environmentVerdict(error);
  const infrastructure = { fault: "infrastructure", isFinal: false } as const;
  const isSocket = codes.some((code) => connectionCodes.has(code) || code.startsWith("UND_ERR_"));
  if (isSocket || connectionNames.has(textOf(error, "name"))) return infrastructure;
  const status = statusOf(error);
  if (status === null || status < 400) {
    return codes.some((code) => serverCode.test(code)) ? infrastructure : null;
  }
  // The gateway's own limit for one call: a time limit like the one of the whole attempt.
  const isLimit = serverError === null && codes.includes("timeout_error");
  if (codes.includes("timeout") || isLimit) return { fault: "agent", isFinal: false };
  if (status >= 500 || passing.has(status)) return infrastructure;
  return { fault: "agent", isFinal: true };
}

/** An environment or a simulated user that failed is not the model's fault, whichever status it gave. */
function environmentVerdict(error: Fields): Verdict {
  const fields = readField(error, "fields");
  const isFinal = isObject(fields) && readField(fields, "isFinal") === true;
  return { fault: "infrastructure", isFinal };
}

/** In the formats of the clients of OpenAI and Anthropic, the AI SDK, axios and this library. */
function statusOf(error: Fields): number | null {
  const holders = [error, readField(error, "response"), readField(error, "fields")].filter(
    isObject,
  );
  for (const holder of holders) {
    for (const key of ["status", "statusCode"]) {
      const status = readField(holder, key);
      if (typeof status === "number" && status >= 100 && status < 600) return status;
    }
  }
  return null;
}

/** Codes of the error itself, of the body that it holds, and of the error in that body. */
function codesOf(error: Fields): string[] {
  const bodies = [
    readField(error, "error"),
    readField(error, "data"),
    readField(error, "cause"),
  ].filter(isObject);
  const inner = bodies.map((body) => readField(body, "error")).filter(isObject);
  return [error, ...bodies, ...inner].flatMap((holder) =>
    ["code", "type"].map((key) => textOf(holder, key)).filter((text) => text !== ""),
  );
}

/** Thrown by code that reads the results of programs, not by a call that was refused. */
function isWrongResult(thrown: unknown): boolean {
  if (!AgentTrainerError.isInstance(thrown)) return false;
  if (thrown.code === "EVALUATOR_FAILED") return true;
  return thrown.code === "ROLLOUT_FAILED" && !("status" in thrown.fields);
}

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

function textOf(holder: Fields, key: string): string {
  const value = readField(holder, key);
  return typeof value === "string" ? value : "";
}
