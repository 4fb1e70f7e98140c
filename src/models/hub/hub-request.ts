/** Requests to a hub: headers, a deadline for each silence, what its refusals mean, and tries again. */
import { startDeadline, type Deadline } from "../../core/deadline.ts";
import { backOffMs, readRetryAfterMs, retry } from "../../util/retry.ts";
import { HubError } from "./hub-error.ts";
import type { HubSettings } from "./hub-settings.ts";
import type { ModelId } from "./model-id.ts";

export interface HubConnection extends HubSettings {
  /** Longest wait for a response, and for its next bytes. */
  readonly silenceMs: number;
  /** First pause before another try; doubled each time, at most 30 s. */
  readonly retryMs: number;
  /** Tries in a row that may bring nothing. */
  readonly maxTries: number;
  /** Called before another try, with what failed and when it is tried again, as a sentence. */
  readonly onRetry?: (message: string) => void;
}

export const defaultConnection = { silenceMs: 30_000, retryMs: 1000, maxTries: 5 } as const;

export interface HubRequest {
  readonly url: string;
  readonly id: ModelId;
  readonly method?: "GET" | "HEAD";
  readonly headers?: Readonly<Record<string, string>>;
  readonly redirect?: "follow" | "manual";
  readonly signal: AbortSignal;
}

/** A failure that may pass. `afterMs` is the server's Retry-After. */
class PassingFailure extends Error {
  readonly error: HubError;
  readonly afterMs: number | undefined;
  constructor(error: HubError, afterMs?: number) {
    super(error.message);
    this.error = error;
    this.afterMs = afterMs;
  }
}

/** Resolves with a response of status below 400. @throws HubError | PassingFailure */
export async function requestHub(hub: HubConnection, request: HubRequest): Promise<Response> {
  const { url, id, method = "GET", headers, redirect = "follow", signal } = request;
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      redirect,
      signal,
      headers: {
        "user-agent": "agent-trainer",
        // Lengths and ranges are those of the file itself.
        "accept-encoding": "identity",
        // Fetch drops it when a redirect leads to another origin.
        ...(hub.token === null ? {} : { authorization: `Bearer ${hub.token}` }),
        ...headers,
      },
    });
  } catch (cause) {
    throw unreachable(hub, url, cause);
  }
  if (response.status < 400) return response;
  await response.body?.cancel().catch(() => undefined);
  throw refusal(hub, id, response);
}

/** Nothing came back, or it broke off. */
export function unreachable(hub: HubConnection, url: string, cause: unknown): PassingFailure {
  const { message, cause: inner } = cause as Error;
  const why = inner instanceof Error ? inner.message : message;
  return new PassingFailure(
    new HubError({
      reason: "unreachable",
      message: `${url} cannot be fetched: ${why}.`,
      hint: `Check the connection to ${hub.endpoint}, or set HF_ENDPOINT to a mirror. Partial files resume where they ended. With HF_HUB_OFFLINE=1 only the cache is used; a model may also be a folder, a .gguf file, or builtin:shop-tiny.`,
      cause,
      fields: { url },
    }),
  );
}

function refusal(hub: HubConnection, id: ModelId, response: Response): HubError | PassingFailure {
  const { status } = response;
  const name = `${id.repository}@${id.revision}`;
  const type = id.type ?? "model";
  const page = `${hub.endpoint}/${type === "dataset" ? "datasets/" : ""}${id.repository}`;
  const code = response.headers.get("x-error-code") ?? "";
  const said = response.headers.get("x-error-message");
  const fields = { [type]: name, status, url: response.url };
  const failure = (reason: HubError["reason"], message: string, hint: string): HubError =>
    new HubError({
      reason,
      message: said === null ? message : `${message} The hub says: ${said}`,
      hint,
      fields,
    });
  if (status === 429 || status >= 500) {
    const afterMs = readRetryAfterMs(response.headers.get("retry-after"));
    const [reason, what] =
      status === 429
        ? (["rate-limited", "allows no more requests for now"] as const)
        : (["unreachable", `responded with status ${status}`] as const);
    return new PassingFailure(
      failure(
        reason,
        `${hub.endpoint} ${what}.`,
        "Try again later; HF_TOKEN allows more requests.",
      ),
      afterMs === undefined ? undefined : Math.min(afterMs, 60_000),
    );
  }
  if (code === "GatedRepo" || status === 403)
    return failure(
      "refused",
      `${id.repository} may not be read.`,
      hub.token === null
        ? `Accept its terms at ${page}, then set HF_TOKEN.`
        : `Accept its terms at ${page} with the account of HF_TOKEN.`,
    );
  if (status === 401)
    return failure(
      "refused",
      `${id.repository} does not exist, or is private.`,
      hub.token === null ? "Check the name, or set HF_TOKEN." : "Check the name and HF_TOKEN.",
    );
  if (status === 404)
    return failure(
      "not-found",
      code === "RevisionNotFound"
        ? `${id.repository} has no revision "${id.revision}".`
        : code === "EntryNotFound"
          ? `${name} has no such file: ${response.url}.`
          : `${hub.endpoint} has no ${type} ${name}.`,
      "Check the name; it is OWNER/NAME, or OWNER/NAME@REVISION.",
    );
  return failure(
    "unreachable",
    `${response.url} responded with status ${status}.`,
    "Check HF_ENDPOINT.",
  );
}

const maxPauseMs = 30_000;

/** Reports that a try got further than the one before. */
export type NoteProgress = () => void;

/** @throws HubError of the last try; the signal's reason */
export function withRetries<T>(
  hub: HubConnection,
  signal: AbortSignal,
  attempt: (noteProgress: NoteProgress) => Promise<T>,
): Promise<T> {
  let failures = 0;
  const waitMs = (error: unknown): number | null => {
    if (!(error instanceof PassingFailure)) return null;
    failures += 1;
    if (failures >= hub.maxTries) throw error.error;
    const afterMs =
      error.afterMs ?? backOffMs(failures, { firstMs: hub.retryMs, maxMs: maxPauseMs });
    hub.onRetry?.(`${error.message} Trying again in ${Math.ceil(afterMs / 1000)} s.`);
    return afterMs;
  };
  return retry(() => attempt(() => (failures = 0)), { waitMs, signal });
}

/** Restarted whenever something is received. */
export function silenceDeadline({ silenceMs }: HubConnection, signal: AbortSignal): Deadline {
  return startDeadline(new Error(`nothing came for ${silenceMs} ms`), silenceMs, signal);
}
