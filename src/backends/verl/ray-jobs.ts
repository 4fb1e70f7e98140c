/** Ray's Jobs REST API, as far as one job needs it. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { HttpFault } from "../../http/http-fault.ts";
import { JsonClient, type HttpCall } from "../../http/json-client.ts";
import { plainFetch } from "./plain-fetch.ts";
import { VerlError } from "./verl-error.ts";

export type JobStatus = "PENDING" | "RUNNING" | "STOPPED" | "SUCCEEDED" | "FAILED";

export interface JobRequest {
  /** A shell command. */
  readonly entrypoint: string;
  /** `gcs://` address of an uploaded archive; the job's working directory. */
  readonly workingDir: string;
  /** Anyone who sees Ray's dashboard can read these. */
  readonly env: Readonly<Record<string, string>>;
}

const timeoutMs = 60_000;
/** Everything that a job has logged; V8 has no text of 512 MiB. */
const maxBytes = 500 * 2 ** 20;

/** Finds the token as Ray's own tools do. */
function findToken(env: NodeJS.ProcessEnv): string | undefined {
  const given = env["RAY_AUTH_TOKEN"];
  if (given !== undefined && given !== "") return given;
  try {
    return readFileSync(
      env["RAY_AUTH_TOKEN_PATH"] ?? join(homedir(), ".ray", "auth_token"),
      "utf8",
    ).trim();
  } catch {
    return undefined;
  }
}

export class RayJobs {
  readonly #client: JsonClient;

  /**
   * @param token of a cluster with token authentication. @default RAY_AUTH_TOKEN, or ~/.ray/auth_token
   */
  constructor(dashboard: string, token: string | undefined = findToken(process.env)) {
    const baseUrl = dashboard.replace(/\/+$/u, "");
    const toError = (fault: HttpFault, call: HttpCall): Error => jobError(baseUrl, fault, call);
    const limits = { timeoutMs, maxBytes };
    this.#client = new JsonClient({ baseUrl, key: token, ...limits, fetch: plainFetch, toError });
  }

  /** Ray's version. @throws VerlError when there is no dashboard. */
  async version(): Promise<string> {
    const { ray_version: version } = await this.#json<{ ray_version: string }>(
      "GET",
      "/api/version",
    );
    return version;
  }

  /** Uploads an archive unless the cluster has it; resolves with its address. */
  async upload(name: string, data: Uint8Array): Promise<string> {
    const path = `/api/packages/gcs/${name}`;
    const known = await this.#client.request({ path, accept: () => true }, ({ status }) => status);
    if (known > 299) {
      await this.#client.request({ path, method: "PUT", body: data }, () => undefined);
    }
    return `gcs://${name}`;
  }

  async submit({ entrypoint, workingDir, env }: JobRequest): Promise<string> {
    const body = { entrypoint, runtime_env: { working_dir: workingDir, env_vars: env } };
    const response = await this.#json<{ submission_id: string }>("POST", "/api/jobs/", body);
    return response.submission_id;
  }

  async status(id: string): Promise<{ readonly status: JobStatus; readonly message: string }> {
    const { status, message } = await this.#json<{ status: JobStatus; message: string | null }>(
      "GET",
      `/api/jobs/${id}`,
    );
    return { status, message: message ?? "" };
  }

  /** Everything that the job has logged. */
  async logs(id: string): Promise<string> {
    return (await this.#json<{ logs: string }>("GET", `/api/jobs/${id}/logs`)).logs;
  }

  async stop(id: string): Promise<void> {
    await this.#json("POST", `/api/jobs/${id}/stop`);
  }

  async #json<T>(method: string, path: string, body?: object): Promise<T> {
    return (await this.#client.json({ method, path, body })) as T;
  }
}

function jobError(dashboard: string, fault: HttpFault, { method = "GET", path }: HttpCall): Error {
  const { kind, status, message } = fault;
  const isAway = kind === "unreachable" || kind === "late";
  if (kind !== "status") {
    return new VerlError({
      reason: "job",
      message: `Ray's dashboard at ${dashboard} ${isAway ? "does not respond" : message}.`,
      hint: "Set verl.launcher.url to the dashboard's address (port 8265 of the head), or forward the port here.",
      cause: fault,
      fields: { dashboard },
    });
  }
  const text = fault.text.trim().slice(-2_000);
  return new VerlError({
    reason: "job",
    message: `Ray responded to ${method} ${path} with ${status}: ${text.split("\n").at(-1) ?? ""}`,
    ...(status === 401 || status === 403
      ? { hint: "Set RAY_AUTH_TOKEN to the cluster's token." }
      : {}),
    fields: { status, text },
  });
}
