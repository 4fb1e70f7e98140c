/** Why a request to a service came to nothing, in words that may be shown: without keys, and not endless. */
import { redact } from "../util/redact.ts";
import { readRetryAfterMs } from "../util/retry.ts";
import { RedirectError } from "./fetch-same-origin.ts";

export type FaultKind = "unreachable" | "late" | "redirect" | "too-large" | "status" | "not-json";

export interface FaultDetails {
  readonly kind: FaultKind;
  /** What the service did, as the end of a sentence. */
  readonly message: string;
  readonly cause?: unknown;
  readonly response?: Response;
  readonly text?: string;
}

/** Longest part of a service's own words that an error repeats. */
const maxWords = 500;
/** A key that is cut in two is no longer known as one. */
const margin = 1000;

/** The beginning of what a service said, without keys. */
export const wordsOf = (text: string, maxLength: number = maxWords): string =>
  redact(text.slice(0, maxLength + margin)).slice(0, maxLength);

export class HttpFault extends Error {
  override readonly name = "HttpFault";
  readonly kind: FaultKind;
  /** Of a refusal. */
  readonly status: number | undefined;
  /** The body of a refusal, or what is not JSON: up to 1 MiB, as it came. */
  readonly text: string;
  /** What a refusal asks for with `Retry-After`, at most 10 minutes. */
  readonly retryAfterMs: number | undefined;

  constructor({ kind, message, cause, response, text = "" }: FaultDetails) {
    super(message, { cause });
    this.kind = kind;
    this.status = response?.status;
    this.text = text;
    this.retryAfterMs = readRetryAfterMs(response?.headers.get("retry-after"));
  }
}

/** Of what `fetch` throws, which keeps the reason in the cause. */
export function connectionFault(cause: unknown): HttpFault {
  if (cause instanceof HttpFault) return cause;
  if (cause instanceof RedirectError) {
    return new HttpFault({ kind: "redirect", message: `leads elsewhere: ${cause.message}`, cause });
  }
  const inner = (cause as { cause?: unknown } | null)?.cause ?? cause;
  const why = inner instanceof Error ? inner.message : String(inner);
  return new HttpFault({ kind: "unreachable", message: `cannot be reached: ${why}`, cause });
}

export const statusFault = (response: Response, text: string): HttpFault =>
  new HttpFault({
    kind: "status",
    message: `responded with status ${response.status}: ${wordsOf(text)}`,
    response,
    text,
  });

export const lateFault = (limitMs: number, cause: unknown): HttpFault =>
  new HttpFault({ kind: "late", message: `did not respond within ${limitMs} ms`, cause });

export const sizeFault = (maxBytes: number): HttpFault =>
  new HttpFault({ kind: "too-large", message: `responded with more than ${sizeOf(maxBytes)}` });

function sizeOf(bytes: number): string {
  const mebi = 2 ** 20;
  return bytes % mebi === 0 ? `${bytes / mebi} MiB` : `${bytes} bytes`;
}

/** @throws HttpFault that shows the start of the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `sent something that is not JSON: ${wordsOf(text, 200)}`;
    throw new HttpFault({ kind: "not-json", message, cause, text: text.slice(0, 2 ** 20) });
  }
}

/** Whether the same request may succeed later. */
export const mayPass = ({ kind, status = 0 }: HttpFault): boolean =>
  kind === "status"
    ? [408, 425, 429].includes(status) || status >= 500
    : kind !== "redirect" && kind !== "too-large";
