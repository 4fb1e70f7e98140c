/** One inference server: what it is, how it does, and requests to it. */
import type { HttpWorker, WorkerKind } from "../../../../core/backend.ts";
import type { Trace } from "../../../../core/trace.ts";
import { defined } from "../../../../util/defined.ts";
import { Circuit, type CircuitOptions } from "./circuit.ts";
import { Connection, type WorkerRequest } from "../http/connection.ts";
import type { UpstreamResponse, PhaseDeadlines } from "../http/http-request.ts";
import { parseWorkerUrl, type WorkerAddress } from "./worker-address.ts";

/** What a server said of itself. */
export interface WorkerFacts {
  readonly kind: WorkerKind;
  readonly model: string;
  /** Infinity where it did not say. */
  readonly contextLength: number;
}

/** Those of its spec, or of its kind by default: SGLang's are after temperature, others' before. */
export function logprobKindOf({ spec }: Worker, { kind }: WorkerFacts): Trace["logprobKind"] {
  return spec.logprobKind ?? (kind === "sglang" ? "processed" : "raw");
}

export interface WorkerOptions extends CircuitOptions {
  readonly deadlines: PhaseDeadlines;
  readonly maxResponseBytes: number;
}

export class Worker {
  readonly id: string;
  readonly spec: HttpWorker;
  readonly address: WorkerAddress;
  readonly circuit: Circuit;
  readonly connection: Connection;
  /** What the last health check said; null before the first. */
  isAlive: boolean | null = null;
  activeRequests = 0;
  /** Why the last health check that failed did. */
  problem: string | undefined;
  /** Health checks that failed in a row. */
  failedChecks = 0;
  facts: WorkerFacts | undefined;
  /** While facts are requested. */
  asking: Promise<WorkerFacts> | undefined;

  constructor(id: string, spec: HttpWorker, options: WorkerOptions) {
    this.id = id;
    this.spec = spec;
    this.address = parseWorkerUrl(spec.url);
    this.circuit = new Circuit(options);
    const { deadlines, maxResponseBytes } = options;
    const { apiKey } = spec;
    this.connection = new Connection({
      workerId: id,
      address: this.address,
      ...defined({ apiKey }),
      deadlines,
      maxResponseBytes,
    });
  }

  /** Whether a new call may go here now. */
  get isOpen(): boolean {
    return this.isAlive !== false && this.circuit.admits;
  }

  get weight(): number {
    return this.spec.weight ?? 1;
  }

  /** @throws UpstreamError, or the signal's reason. */
  send(request: WorkerRequest): Promise<UpstreamResponse> {
    return this.connection.send(request);
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
    };
  }

  /** `text` without this worker's key. */
  redact(text: string): string {
    const { apiKey } = this.spec;
    return apiKey === undefined || apiKey === "" ? text : text.replaceAll(apiKey, "[redacted]");
  }

  /** Closes connections, those in use included. */
  close(): void {
    this.connection.close();
  }
}
