/** Requests to one server: its address, its key, its sockets. Knows neither health nor load. */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { writeJson } from "../../../../util/raw-json.ts";
import { sendHttp, type UpstreamResponse, type PhaseDeadlines } from "./http-request.ts";
import type { WorkerAddress } from "../pool/worker-address.ts";

/** Shorter than servers keep idle connections (uvicorn: 5 s), so that none is used stale. */
const idleSocketMs = 4_000;

/** Plain data, so that a thread can have its own connection. */
export interface ConnectionOptions {
  readonly workerId: string;
  readonly address: WorkerAddress;
  readonly apiKey?: string;
  readonly deadlines: PhaseDeadlines;
  readonly maxResponseBytes: number;
}

export interface WorkerRequest {
  /** `/v1` at its start is replaced by the path of the OpenAI routes. */
  readonly path: string;
  /** Sent as JSON; absent for a GET. */
  readonly body?: object;
  readonly signal: AbortSignal;
  readonly deadlines?: Partial<PhaseDeadlines>;
}

export class Connection {
  readonly options: ConnectionOptions;
  readonly #agent: HttpAgent;

  constructor(options: ConnectionOptions) {
    this.options = options;
    const Agent = options.address.root.startsWith("https:") ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true, timeout: idleSocketMs, maxFreeSockets: 256 });
  }

  /** @throws UpstreamError, or the signal's reason. */
  send({ path, body, signal, deadlines }: WorkerRequest): Promise<UpstreamResponse> {
    const { workerId, address, apiKey, maxResponseBytes } = this.options;
    const { root, apiPath } = address;
    const rest = path.startsWith("/v1/") ? apiPath + path.slice("/v1".length) : path;
    return sendHttp({
      url: new URL(root + rest),
      method: body === undefined ? "GET" : "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "user-agent": "agent-trainer",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      ...(body === undefined ? {} : { body: writeJson(body) }),
      agent: this.#agent,
      deadlines: { ...this.options.deadlines, ...deadlines },
      signal,
      maxBytes: maxResponseBytes,
      workerId,
    });
  }

  /** Closes sockets, those in use included. */
  close(): void {
    this.#agent.destroy();
  }
}
