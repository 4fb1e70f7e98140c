/** Ray's Jobs REST API, as far as one job needs it. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type PlainResponse, sendPlain } from "./plain-request.ts";
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

const requestMs = 60_000;

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
  readonly #dashboard: string;
  readonly #token: string | undefined;

  /**
   * @param token of a cluster with token authentication. @default RAY_AUTH_TOKEN, or ~/.ray/auth_token
   */
  constructor(dashboard: string, token: string | undefined = findToken(process.env)) {
    this.#dashboard = dashboard.replace(/\/+$/u, "");
    this.#token = token;
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
    const known = await this.#send("GET", path);
    if (!isOk(known.status)) this.#check("PUT", path, await this.#send("PUT", path, data));
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

  async #send(method: string, path: string, body?: object): Promise<PlainResponse> {
    const isBytes = body instanceof Uint8Array;
    try {
      return await sendPlain(this.#dashboard + path, {
        method,
        headers: {
          ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
          ...(body === undefined
            ? {}
            : { "content-type": isBytes ? "application/octet-stream" : "application/json" }),
        },
        ...(body === undefined ? {} : { body: isBytes ? body : JSON.stringify(body) }),
        limitMs: requestMs,
      });
    } catch (error) {
      throw new VerlError({
        reason: "job",
        message: `Ray's dashboard at ${this.#dashboard} does not respond.`,
        hint: "Set verl.url to the dashboard's address (port 8265 of the head), or forward the port here.",
        cause: error,
        fields: { dashboard: this.#dashboard },
      });
    }
  }

  #check(method: string, path: string, { status, text: whole }: PlainResponse): string {
    if (isOk(status)) return whole;
    const text = whole.trim().slice(-2_000);
    throw new VerlError({
      reason: "job",
      message: `Ray responded to ${method} ${path} with ${status}: ${text.split("\n").at(-1) ?? ""}`,
      ...(status === 401 || status === 403
        ? { hint: "Set RAY_AUTH_TOKEN to the cluster's token." }
        : {}),
      fields: { status, text },
    });
  }

  async #json<T>(method: string, path: string, body?: object): Promise<T> {
    return JSON.parse(this.#check(method, path, await this.#send(method, path, body))) as T;
  }
}

const isOk = (status: number): boolean => status >= 200 && status < 300;
