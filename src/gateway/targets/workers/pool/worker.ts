/** One inference server: what it is, how it does, and requests to it. */
import type { HttpWorker, WorkerKind } from "../../../../core/backend.ts";
import type { Trace } from "../../../../core/trace.ts";
import { defined } from "../../../../util/defined.ts";
import { Connection, type ConnectionOptions, type WorkerRequest } from "../http/connection.ts";
import type { UpstreamResponse } from "../http/http-request.ts";
import { parseWorkerUrl } from "./worker-address.ts";

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

export type WorkerOptions = Pick<ConnectionOptions, "deadlines" | "maxResponseBytes">;

/** Failed checks in a row that take a worker out. */
const checksToFail = 3;

export class Worker {
  readonly id: string;
  readonly spec: HttpWorker;
  readonly connection: Connection;
  activeRequests = 0;
  /** Health checks that failed in a row. Nothing is known of a new worker, so its first check decides. */
  failedChecks: number = checksToFail - 1;
  /** Why the last health check that failed did. */
  problem: string | undefined;
  /** A call failed here and succeeded elsewhere; no call or health check has succeeded here since. */
  isDoubtful = false;
  facts: WorkerFacts | undefined;
  /** While facts are requested. */
  asking: Promise<WorkerFacts> | undefined;

  constructor(id: string, spec: HttpWorker, options: WorkerOptions) {
    this.id = id;
    this.spec = spec;
    const { deadlines, maxResponseBytes } = options;
    const { apiKey, url } = spec;
    this.connection = new Connection({
      workerId: id,
      address: parseWorkerUrl(url),
      ...defined({ apiKey }),
      deadlines,
      maxResponseBytes,
    });
  }

  /** Whether calls may go here. */
  get isAlive(): boolean {
    return this.failedChecks < checksToFail;
  }

  /** @throws UpstreamError, or the signal's reason. */
  send(request: WorkerRequest): Promise<UpstreamResponse> {
    return this.connection.send(request);
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
