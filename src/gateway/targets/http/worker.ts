/** One inference server: what it is, how it does, and requests to it. Knows no other worker. */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { HttpWorker, WorkerKind } from "../../../core/backend.ts";
import { Circuit, type CircuitOptions } from "./circuit.ts";
import { sendHttp, type HttpAnswer, type PhaseDeadlines } from "./http-request.ts";
import { parseWorkerUrl, type WorkerAddress } from "./worker-address.ts";

/** Shorter than servers keep idle connections (uvicorn: 5 s), so that none is used stale. */
const idleSocketMs = 4_000;

/** What a server said of itself. */
export interface WorkerFacts {
  readonly kind: WorkerKind;
  readonly model: string;
  /** Infinity where it did not say. */
  readonly contextLength: number;
}

export interface WorkerOptions extends CircuitOptions {
  readonly deadlines: PhaseDeadlines;
  readonly maxResponseBytes: number;
}

export interface WorkerRequest {
  /** `/v1` at its beginning stands for the OpenAI routes. */
  readonly path: string;
  /** Sent as JSON; absent for a GET. */
  readonly body?: object;
  readonly signal: AbortSignal;
  readonly deadlines?: Partial<PhaseDeadlines>;
}

export class Worker {
  readonly id: string;
  readonly spec: HttpWorker;
  readonly address: WorkerAddress;
  readonly circuit: Circuit;
  isDraining = false;
  /** What the last health check said; null before the first. */
  isAlive: boolean | null = null;
  activeRequests = 0;
  /** Health checks that failed in a row. */
  failedChecks = 0;
  facts: WorkerFacts | undefined;
  /** While facts are asked for. */
  asking: Promise<WorkerFacts> | undefined;
  readonly #options: WorkerOptions;
  readonly #agent: HttpAgent;
  #isRetired = false;

  constructor(id: string, spec: HttpWorker, options: WorkerOptions, apiPath?: string) {
    this.id = id;
    this.spec = spec;
    this.address = parseWorkerUrl(spec.url, apiPath);
    this.circuit = new Circuit(options);
    this.#options = options;
    const Agent = this.address.root.startsWith("https:") ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true, timeout: idleSocketMs, maxFreeSockets: 256 });
  }

  get isHealthy(): boolean {
    return this.isAlive !== false && this.circuit.state !== "open";
  }

  /** Whether a new call may go here now. */
  get isOpen(): boolean {
    return !this.isDraining && this.isAlive !== false && this.circuit.admits;
  }

  get weight(): number {
    return this.spec.weight ?? 1;
  }

  /** @throws UpstreamError, or the signal's reason. */
  send({ path, body, signal, deadlines }: WorkerRequest): Promise<HttpAnswer> {
    const { root, apiPath } = this.address;
    const { apiKey } = this.spec;
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
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      agent: this.#agent,
      deadlines: { ...this.#options.deadlines, ...deadlines },
      signal,
      maxBytes: this.#options.maxResponseBytes,
      workerId: this.id,
    });
  }

  /** A call begins here. Returns how it ends. */
  enter(): () => void {
    this.activeRequests++;
    this.circuit.begin();
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.activeRequests--;
      if (this.#isRetired && this.activeRequests === 0) this.close();
    };
  }

  /** Closes connections as soon as no call needs them. */
  retire(): void {
    this.isDraining = true;
    this.#isRetired = true;
    if (this.activeRequests === 0) this.close();
  }

  /** `text` without this worker's key. */
  redact(text: string): string {
    const { apiKey } = this.spec;
    return apiKey === undefined || apiKey === "" ? text : text.replaceAll(apiKey, "[redacted]");
  }

  /** Closes connections, those in use included. */
  close(): void {
    this.#agent.destroy();
  }
}
