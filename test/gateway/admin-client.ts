/** The gateway's admin routes as functions. Traces are read back, so that tests compare them with captured ones. */
import type { Trace } from "../../src/core/trace.ts";
import { encodeSegment } from "../../src/gateway/http/path.ts";
import { fromWireTrace } from "./wire-trace.ts";

type Wire = Readonly<Record<string, unknown>>;
type Query = Readonly<Record<string, number>>;

export interface OpenedSession {
  readonly uid: string;
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** What a refused request throws. */
export class RefusedError extends Error {
  readonly status: number;
  readonly reason: unknown;
  readonly param: unknown;
  constructor(status: number, { message, code, param }: Wire) {
    super(String(message));
    this.status = status;
    this.reason = code;
    this.param = param;
  }
}

export interface AdminOptions {
  readonly url: string;
  readonly adminToken: string;
  /** @default the global one */
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>;
}

interface AdminRequest {
  readonly method?: string;
  readonly body?: unknown;
  readonly query?: Query;
  readonly accept?: string;
}

export class AdminClient {
  readonly #options: AdminOptions;

  constructor(options: AdminOptions) {
    this.#options = options;
  }

  async send(path: string, request: AdminRequest = {}): Promise<Response> {
    const { body, query = {}, accept = "*/*" } = request;
    const { adminToken, fetch: send = fetch } = this.#options;
    const url = new URL(this.#options.url + path);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const response = await send(url, {
      method: request.method ?? (body === undefined ? "GET" : "POST"),
      headers: { authorization: `Bearer ${adminToken}`, accept },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    throw new RefusedError(response.status, ((await response.json()) as { error: Wire }).error);
  }

  async json<T = Wire>(path: string, request?: AdminRequest): Promise<T> {
    return (await (await this.send(path, request)).json()) as T;
  }

  async createSession(body: Wire = {}): Promise<OpenedSession> {
    const opened = await this.json("/sessions", { body });
    return {
      uid: opened["session_id"] as string,
      baseUrl: opened["url"] as string,
      apiKey: opened["api_key"] as string,
    };
  }

  async sessions(query: Query = {}): Promise<readonly unknown[]> {
    return (await this.json<Wire[]>("/sessions", { query })).map((one) => one["session_id"]);
  }

  async deleteSession(uid: string): Promise<unknown> {
    return (await this.json(sessionPath(uid), { method: "DELETE" }))["deleted"];
  }

  async traces(uid: string): Promise<readonly Trace[]> {
    return (await this.json<Wire[]>(`${sessionPath(uid)}/traces`)).map(fromWireTrace);
  }

  async tracePage(
    uid: string,
    query: Query,
  ): Promise<{ readonly traces: readonly Trace[]; readonly cursor: number }> {
    const response = await this.send(`${sessionPath(uid)}/traces`, {
      query: { cursor: 0, ...query },
    });
    const traces = ((await response.json()) as Wire[]).map(fromWireTrace);
    return { traces, cursor: Number(response.headers.get("x-next-cursor")) };
  }

  /** Those that are there and those to come, until the session ends or the loop is left. */
  async *followTraces(uid: string): AsyncGenerator<Trace, void, undefined> {
    const accept = "text/event-stream";
    const response = await this.send(`${sessionPath(uid)}/traces`, {
      query: { cursor: 0 },
      accept,
    });
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const events = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
      text = events.pop() as string;
      for (const event of events) {
        if (/^event: end$/m.test(event)) return;
        const [, data] = /^event: trace$[^]*^data: (.*)$/m.exec(event) ?? [];
        if (data !== undefined) yield fromWireTrace(JSON.parse(data) as Wire);
      }
    }
  }

  /** Resolves with how many calls are in flight. */
  async pause(body: Wire): Promise<unknown> {
    return (await this.json("/admin/pause", { body }))["in_flight"];
  }

  async resume(): Promise<void> {
    await this.send("/admin/resume", { body: {} });
  }

  async setWeightVersion(version: number): Promise<void> {
    await this.send("/admin/weight_version", { body: { weight_version: version } });
  }
}

function sessionPath(uid: string): string {
  return `/sessions/${encodeSegment(uid)}`;
}
