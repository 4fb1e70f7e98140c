/** A gateway in another process, as a trainer uses it. Speaks its REST routes; knows no inference protocol. */
import type { SessionOptions } from "../../core/session.ts";
import type { Trace } from "../../core/trace.ts";
import { ClientRequests, type CallOptions, type ClientOptions } from "./client-request.ts";
import { readTraceEvents } from "./client-events.ts";
import { encodeSegment } from "../http/path.ts";
import type { PauseMode } from "../call/call-gate.ts";
import { fromWireTrace } from "./wire-read.ts";
import type { WorkerSpec, WorkerStatus } from "../worker-admin.ts";

type Wire = Readonly<Record<string, unknown>>;

export type NewSession = Partial<SessionOptions>;

/** What an agent needs of a session. */
export interface SessionAccess {
  readonly uid: string;
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** Told only now. */
  readonly apiKey: string;
  readonly model: string;
}

export interface SessionInfo {
  readonly uid: string;
  readonly traceCount: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Times are in milliseconds since the epoch. */
export interface PageOptions extends CallOptions {
  readonly since?: number;
  readonly limit?: number;
}

export interface ClientTracePage {
  readonly traces: readonly Trace[];
  /** For `after`. */
  readonly cursor: number;
}

function toInfo(wire: Wire): SessionInfo {
  return {
    uid: wire["session_id"] as string,
    traceCount: wire["trace_count"] as number,
    createdAt: Math.round((wire["created_at"] as number) * 1000),
    metadata: wire["metadata"] as SessionInfo["metadata"],
  };
}

function toWorker(wire: Wire): WorkerStatus {
  return {
    id: wire["worker_id"],
    url: wire["url"],
    apiPath: wire["api_path"],
    modelName: wire["model_name"],
    weight: wire["weight"],
    healthy: wire["healthy"],
    draining: wire["draining"] ?? false,
    activeRequests: wire["active_requests"],
  } as WorkerStatus;
}

const inSeconds = (time: number | undefined): number | undefined =>
  time === undefined ? undefined : time / 1000;

/**
 * Every method throws `ApiError` for a refusal, `DeadlineError` when it takes too long, and the reason
 * of `signal` when that aborts.
 *
 * @example
 * const client = new GatewayClient({ url: "http://127.0.0.1:9090", adminToken });
 * const { baseUrl, apiKey } = await client.createSession({ uid: "rollout-1" });
 * // ... an agent works there ...
 * const traces = await client.traces("rollout-1");
 */
export class GatewayClient {
  readonly #requests: ClientRequests;

  constructor(options: ClientOptions) {
    this.#requests = new ClientRequests(options);
  }

  async createSession(session: NewSession = {}, options: CallOptions = {}): Promise<SessionAccess> {
    const { uid, sampling, seed, metadata } = session;
    const { temperature, topP, topK, minP, maxTokens } = sampling ?? {};
    const body = {
      session_id: uid,
      seed,
      metadata,
      sampling_params: {
        temperature,
        top_p: topP,
        top_k: topK,
        min_p: minP,
        max_tokens: maxTokens,
      },
    };
    const opened = await this.#post<Wire>("/sessions", body, options);
    return {
      uid: opened["session_id"] as string,
      baseUrl: opened["url"] as string,
      apiKey: opened["api_key"] as string,
      model: opened["model"] as string,
    };
  }

  /** Newest first. */
  async sessions({ since, limit, ...options }: PageOptions = {}): Promise<readonly SessionInfo[]> {
    const query = { since: inSeconds(since), limit };
    const list = await this.#requests.json<Wire[]>({ path: "/sessions", query, ...options });
    return list.map(toInfo);
  }

  async session(uid: string, options: CallOptions = {}): Promise<SessionInfo> {
    const path = `/sessions/${encodeSegment(uid)}`;
    return toInfo(await this.#requests.json<Wire>({ path, ...options }));
  }

  /** Resolves with how many traces it had; 0 also for an unknown one. */
  async deleteSession(uid: string, options: CallOptions = {}): Promise<number> {
    const path = `/sessions/${encodeSegment(uid)}`;
    const call = { method: "DELETE", path, ...options };
    return (await this.#requests.json<{ deleted: number }>(call)).deleted;
  }

  async deleteSessions(uids: readonly string[], options: CallOptions = {}): Promise<number> {
    const body = { session_ids: uids };
    const result = await this.#post<{ deleted: number }>("/sessions/batch_delete", body, options);
    return result.deleted;
  }

  /** All of a session, by order of dispatch, once calls in flight have settled. */
  async traces(uid: string, options: CallOptions = {}): Promise<readonly Trace[]> {
    const path = `/sessions/${encodeSegment(uid)}/traces`;
    return (await this.#requests.json<Wire[]>({ path, ...options })).map(fromWireTrace);
  }

  /** Some of a session, by order of arrival. */
  tracePage(
    uid: string,
    { after = 0, since, limit, ...options }: PageOptions & { readonly after?: number } = {},
  ): Promise<ClientTracePage> {
    const path = `/sessions/${encodeSegment(uid)}/traces`;
    const query = { cursor: after, since: inSeconds(since), limit };
    return this.#requests.send({ path, query, ...options }, async (response) => ({
      traces: ((await response.json()) as Wire[]).map(fromWireTrace),
      cursor: Number(response.headers.get("x-next-cursor")),
    }));
  }

  /** Those that are there and those to come, until the session ends or the loop is left. */
  async *followTraces(
    uid: string,
    { after = 0, signal }: CallOptions & { readonly after?: number } = {},
  ): AsyncGenerator<Trace, void, undefined> {
    const leaving = new AbortController();
    const both = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal;
    const response = await this.#requests.open(
      {
        path: `/sessions/${encodeSegment(uid)}/traces`,
        query: { cursor: after },
        headers: { accept: "text/event-stream" },
        signal: both,
      },
      both,
    );
    yield* readTraceEvents(response, both);
  }

  async trace(id: string, options: CallOptions = {}): Promise<Trace> {
    const path = `/traces/${encodeSegment(id)}`;
    return fromWireTrace(await this.#requests.json<Wire>({ path, ...options }));
  }

  /** Of several sessions, in their order; `limit` is for each. */
  async queryTraces(
    uids: readonly string[],
    { since, limit, ...options }: PageOptions = {},
  ): Promise<readonly Trace[]> {
    const body = { session_ids: uids, since: inSeconds(since), limit };
    return (await this.#post<Wire[]>("/traces/query", body, options)).map(fromWireTrace);
  }

  async workers(options: CallOptions = {}): Promise<readonly WorkerStatus[]> {
    const list = await this.#requests.json<Wire[]>({ path: "/admin/workers", ...options });
    return list.map(toWorker);
  }

  async addWorker(spec: WorkerSpec, options: CallOptions = {}): Promise<WorkerStatus> {
    const { id, url, apiPath, modelName, weight, apiKey, kind } = spec;
    const names = { worker_id: id, api_path: apiPath, model_name: modelName, api_key: apiKey };
    return toWorker(await this.#post("/admin/workers", { url, weight, kind, ...names }, options));
  }

  async removeWorker(id: string, options: CallOptions = {}): Promise<void> {
    const path = `/admin/workers/${encodeSegment(id)}`;
    await this.#requests.json({ method: "DELETE", path, ...options });
  }

  /** No new calls for this worker; resolves with how many are left after at most `limitMs`. */
  async drainWorker(id: string, limitMs = 30_000, options: CallOptions = {}): Promise<number> {
    const path = `/admin/workers/${encodeSegment(id)}/drain`;
    const query = { timeout_ms: limitMs };
    const call = { method: "POST", path, query, extraMs: limitMs, ...options };
    return (await this.#requests.json<{ active_requests: number }>(call)).active_requests;
  }

  async weightVersion(options: CallOptions = {}): Promise<number | null> {
    const call = { path: "/admin/weight_version", ...options };
    return (await this.#requests.json<{ weight_version: number | null }>(call)).weight_version;
  }

  async setWeightVersion(version: number, options: CallOptions = {}): Promise<void> {
    await this.#post("/admin/weight_version", { weight_version: version }, options);
  }

  /** Resolves when everything captured so far is durable. */
  async flush(options: CallOptions = {}): Promise<void> {
    await this.#post("/admin/flush", {}, options);
  }

  /** Holds (or refuses) new calls; resolves with how many are in flight after at most `drainMs`. */
  async pause({
    mode = "hold",
    drainMs = 0,
    ...options
  }: CallOptions & { readonly mode?: PauseMode; readonly drainMs?: number } = {}): Promise<number> {
    const call = { method: "POST", path: "/admin/pause", extraMs: drainMs, ...options };
    const body = { mode, drain_ms: drainMs };
    return (await this.#requests.json<{ in_flight: number }>({ ...call, body })).in_flight;
  }

  async resume(options: CallOptions = {}): Promise<void> {
    await this.#post("/admin/resume", {}, options);
  }

  async health(options: CallOptions = {}): Promise<boolean> {
    const { status } = await this.#requests.json<{ status: string }>({
      path: "/health",
      ...options,
    });
    return status === "ok";
  }

  async workerHealth(
    options: CallOptions = {},
  ): Promise<{ readonly workers: readonly WorkerStatus[]; readonly healthy: number }> {
    type Response = { workers: Wire[]; healthy: number };
    const response = await this.#requests.json<Response>({ path: "/health/workers", ...options });
    return { workers: response.workers.map(toWorker), healthy: response.healthy };
  }

  /** Prometheus text. */
  metrics(options: CallOptions = {}): Promise<string> {
    return this.#requests.send({ path: "/metrics", ...options }, (response) => response.text());
  }

  openApi(options: CallOptions = {}): Promise<Wire> {
    return this.#requests.json({ path: "/openapi.json", ...options });
  }

  #post<T>(path: string, body: unknown, options: CallOptions): Promise<T> {
    return this.#requests.json<T>({ method: "POST", path, body, ...options });
  }
}
