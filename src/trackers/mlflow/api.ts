/**
 * The requests of MLflow's REST API that a run needs.
 * https://mlflow.org/docs/latest/api_reference/rest-api.html
 */
import { fetchSameOrigin, RedirectError } from "../../http/fetch-same-origin.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import { readLimited } from "../../util/read-limited.ts";
import { backOffMs, readRetryAfterMs, retry } from "../../util/retry.ts";

export interface MlflowServer {
  /** Such as `http://127.0.0.1:5000`. */
  readonly url: string;
  /** `Authorization` header, or null. */
  readonly authorization: string | null;
}

class MlflowError extends Error {
  override readonly name: string = "MlflowError";
  readonly status: number;
  readonly code: string;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, code: string, message: string, retryAfterMs?: number) {
    super(`MLflow responded with status ${status} ${code}: ${message}`);
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Room for a run with thousands of parameters, which MLflow sends back. */
const maxResponseBytes = 16 * 2 ** 20;

class ResponseTooLarge extends Error {
  override readonly name: string = "ResponseTooLarge";
}

export type MlflowRequest = (
  method: "GET" | "POST",
  path: string,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, unknown>>>;

const isTransient = (error: unknown): boolean =>
  error instanceof MlflowError
    ? error.status === 429 || error.status >= 500
    : !(error instanceof RedirectError || error instanceof ResponseTooLarge);

/** Sends requests; a server that is busy or away for a moment is tried again until the signal aborts. */
export function mlflowRequests({ url, authorization }: MlflowServer): MlflowRequest {
  const base = `${url.replace(/\/+$/u, "")}/api/2.0/mlflow/`;
  const once: MlflowRequest = async (method, path, body, signal) => {
    const target = new URL(path, base);
    if (method === "GET") {
      for (const [key, value] of Object.entries(body)) target.searchParams.set(key, String(value));
    }
    const response = await fetchSameOrigin(target, {
      method,
      signal,
      headers: {
        "content-type": "application/json",
        ...(authorization === null ? {} : { authorization }),
      },
      ...(method === "POST" ? { body: JSON.stringify(body) } : {}),
    });
    const text = await readLimited(
      response,
      maxResponseBytes,
      () =>
        new ResponseTooLarge(
          `MLflow responded to ${path} with more than ${maxResponseBytes / 2 ** 20} MiB.`,
        ),
    );
    if (response.ok) return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    const { error_code: code = "", message = text.slice(0, 300) } = readError(text);
    const wait = readRetryAfterMs(response.headers.get("retry-after"));
    throw new MlflowError(response.status, code, message, wait);
  };
  return async (method, path, body, signal) =>
    await retry(async () => await once(method, path, body, signal), {
      signal,
      waitMs: (error, failures) =>
        isTransient(error)
          ? ((error as Partial<MlflowError>).retryAfterMs ??
            backOffMs(failures, { firstMs: 200, maxMs: 5000 }))
          : null,
    });
}

function readError(text: string): { readonly error_code?: string; readonly message?: string } {
  try {
    return JSON.parse(text) as { error_code?: string; message?: string };
  } catch {
    return {};
  }
}

/** The id of the experiment of that name; created where there is none. */
export async function findExperiment(
  request: MlflowRequest,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    const { experiment } = await request(
      "GET",
      "experiments/get-by-name",
      { experiment_name: name },
      signal,
    );
    const { experiment_id: id, lifecycle_stage: stage } = experiment as Record<string, string>;
    if (stage === "deleted") {
      throw new AgentTrainerError({
        code: "CONFIG_INVALID",
        message: `The MLflow experiment ${name} is deleted.`,
        hint: "Restore it in MLflow, or set tracking.project to another name.",
      });
    }
    return String(id);
  } catch (error) {
    if (!(error instanceof MlflowError && error.code === "RESOURCE_DOES_NOT_EXIST")) throw error;
  }
  const { experiment_id: id } = await request("POST", "experiments/create", { name }, signal);
  return String(id);
}
