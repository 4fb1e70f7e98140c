/**
 * The requests of MLflow's REST API that a run needs.
 * https://mlflow.org/docs/latest/api_reference/rest-api.html
 */
import { AgentTrainerError } from "../../core/errors.ts";
import { parseJson, wordsOf, type HttpFault } from "../../http/http-fault.ts";
import { JsonClient, textOf, type HttpCall } from "../../http/json-client.ts";
import { defined } from "../../util/defined.ts";

export interface MlflowServer {
  /** Such as `http://127.0.0.1:5000`. */
  readonly url: string;
  /** `Authorization` header, or null. */
  readonly authorization: string | null;
}

class MlflowError extends Error {
  override readonly name: string = "MlflowError";
  readonly code: string;

  constructor(message: string, code: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Room for a run with thousands of parameters, which MLflow sends back. */
const maxBytes = 16 * 2 ** 20;

export type MlflowRequest = (
  method: "GET" | "POST",
  path: string,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, unknown>>>;

/** Sends requests; a server that is busy or away for a moment is tried again until the signal aborts. */
export function mlflowRequests({ url, authorization }: MlflowServer): MlflowRequest {
  const client = new JsonClient({
    baseUrl: `${url.replace(/\/+$/u, "")}/api/2.0/mlflow/`,
    headers: {
      "content-type": "application/json",
      ...defined({ authorization: authorization ?? undefined }),
    },
    // One that is silent is tried again, like one that is away.
    timeoutMs: 30_000,
    maxBytes,
    retry: { tries: Infinity, firstMs: 200, maxMs: 5000 },
    toError,
  });
  return (method, path, body, signal) => {
    const isGet = method === "GET";
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(isGet ? body : {})) query.set(key, String(value));
    const call = isGet ? { path: `${path}?${query.toString()}` } : { path, body };
    return client.request({ ...call, method, signal }, (response) => {
      const text = textOf(response);
      return text === "" ? {} : (parseJson(text) as Record<string, unknown>);
    });
  };
}

function toError(fault: HttpFault, { path }: HttpCall): Error {
  const { kind, status, text, message: what } = fault;
  if (kind === "too-large") {
    const route = path.replace(/\?.*$/u, "");
    const limit = `${maxBytes / 2 ** 20} MiB`;
    return new MlflowError(`MLflow responded to ${route} with more than ${limit}.`, "", fault);
  }
  if (kind !== "status") return new MlflowError(`MLflow ${what}`, "", fault);
  const { error_code: code = "", message = text } = readError(text);
  const words = wordsOf(message);
  return new MlflowError(`MLflow responded with status ${status} ${code}: ${words}`, code, fault);
}

function readError(text: string): { readonly error_code?: string; readonly message?: string } {
  try {
    return (JSON.parse(text) ?? {}) as { error_code?: string; message?: string };
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
