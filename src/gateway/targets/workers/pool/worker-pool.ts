/**
 * The workers, which of them a call goes to, and their health. Knows no calls: sticky by affinity key,
 * otherwise the least loaded.
 */
import { randomUUID } from "node:crypto";
import type { HttpWorker } from "../../../../core/backend.ts";
import { ConfigError } from "../../../../core/errors.ts";
import { waitUntilIdle } from "../../../call/wait-until-idle.ts";
import type { WorkerAdmin, WorkerSpec, WorkerStatus } from "../../../worker-admin.ts";
import { defined } from "../../../../util/defined.ts";
import { checkHealth, readFacts } from "./worker-probe.ts";
import { Worker, type WorkerFacts, type WorkerOptions } from "./worker.ts";

/** Affinities that are remembered; the oldest are forgotten first. */
const maxAffinities = 100_000;
/** Failed checks in a row that take a worker out that was well. */
const checksToFail = 3;

export interface WorkerPoolOptions extends WorkerOptions {
  readonly healthIntervalMs: number;
  readonly healthTimeoutMs: number;
  /** The model that is requested where a worker has it. */
  readonly model: string;
}

function statusOf(worker: Worker): WorkerStatus {
  const { id, address, spec, facts } = worker;
  const kind = facts?.kind ?? (spec.kind === "auto" ? undefined : spec.kind);
  return {
    id,
    url: address.root,
    apiPath: address.apiPath,
    modelName: spec.modelName ?? facts?.model ?? null,
    weight: worker.weight,
    healthy: worker.isHealthy,
    draining: worker.isDraining,
    activeRequests: worker.activeRequests,
    ...defined({ kind }),
  };
}

export class WorkerPool implements WorkerAdmin {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Map<string, Worker>();
  readonly #affinities = new Map<string, Worker>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(workers: readonly HttpWorker[], options: WorkerPoolOptions) {
    this.#options = options;
    for (const worker of workers) this.add(worker);
    this.#timer = setInterval(() => {
      for (const worker of this.#workers.values()) void this.#check(worker);
    }, options.healthIntervalMs);
    this.#timer.unref();
  }

  /** The shortest that a worker reported; Infinity while none did. */
  get contextLength(): number {
    const known = [...this.#workers.values()].map(({ facts }) => facts?.contextLength ?? Infinity);
    return Math.min(Infinity, ...known);
  }

  list(): readonly WorkerStatus[] {
    return [...this.#workers.values()].map(statusOf);
  }

  add(spec: WorkerSpec | HttpWorker): WorkerStatus {
    const apiPath = "apiPath" in spec ? spec.apiPath : undefined;
    const id = spec.id ?? randomUUID().slice(0, 8);
    const worker = new Worker(id, checkSpec(spec), this.#options, apiPath);
    const { root, apiPath: path } = worker.address;
    for (const known of this.#workers.values()) {
      if (known.address.root !== root || known.address.apiPath !== path) continue;
      worker.close();
      // Added again is wanted again.
      known.isDraining = false;
      return statusOf(known);
    }
    if (this.#workers.has(id)) {
      worker.close();
      throw new ConfigError({
        message: `There is a worker "${id}" already, with another URL.`,
        hint: "Choose another id, or remove that worker first.",
        fields: { option: "workers", value: id },
      });
    }
    this.#workers.set(id, worker);
    void this.#check(worker);
    return statusOf(worker);
  }

  remove(id: string): boolean {
    const worker = this.#workers.get(id);
    if (!worker) return false;
    this.#workers.delete(id);
    for (const [key, kept] of this.#affinities) if (kept === worker) this.#affinities.delete(key);
    worker.retire();
    return true;
  }

  async drain(id: string, limitMs: number): Promise<number | undefined> {
    const worker = this.#workers.get(id);
    if (!worker) return undefined;
    worker.isDraining = true;
    return waitUntilIdle(() => worker.activeRequests, limitMs);
  }

  /** The worker that a call goes to; undefined when none may get one. `avoid` comes last. */
  pick(affinity: string, avoid: ReadonlySet<Worker>): Worker | undefined {
    const sticky = this.#affinities.get(affinity);
    if (sticky?.isOpen && !avoid.has(sticky)) {
      this.#remember(affinity, sticky);
      return sticky;
    }
    const open = [...this.#workers.values()].filter((worker) => worker.isOpen);
    const fresh = open.filter((worker) => !avoid.has(worker));
    const load = (worker: Worker): number => (worker.activeRequests + 1) / worker.weight;
    let least: Worker | undefined;
    for (const worker of fresh.length > 0 ? fresh : open) {
      if (!least || load(worker) < load(least)) least = worker;
    }
    if (least) this.#remember(affinity, least);
    return least;
  }

  /** Milliseconds until a worker that is out may be tried. */
  get retryMs(): number {
    const { healthIntervalMs } = this.#options;
    const waits = [...this.#workers.values()].map(({ circuit, isAlive }) =>
      isAlive === false ? healthIntervalMs : circuit.waitMs,
    );
    return Math.min(healthIntervalMs, ...waits);
  }

  /** Why a worker is out; undefined where no health check failed. */
  get problem(): string | undefined {
    const out = [...this.#workers.values()].find(({ isAlive }) => isAlive === false);
    return out?.problem === undefined ? undefined : out.redact(out.problem);
  }

  /** What the worker is; requested once, and again after a failure. @throws UpstreamError */
  async facts(worker: Worker): Promise<WorkerFacts> {
    if (worker.facts) return worker.facts;
    worker.asking ??= this.#request(worker);
    return worker.asking;
  }

  /** Resolves when some worker is known, or when all that may get calls have failed. */
  async ready(): Promise<void> {
    const workers = [...this.#workers.values()];
    if (workers.length === 0 || workers.some(({ facts }) => facts)) return;
    await Promise.any(workers.map((worker) => this.facts(worker))).catch(() => undefined);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const worker of this.#workers.values()) worker.close();
    this.#workers.clear();
    this.#affinities.clear();
  }

  #remember(affinity: string, worker: Worker): void {
    // The last of a Map is the youngest.
    this.#affinities.delete(affinity);
    this.#affinities.set(affinity, worker);
    if (this.#affinities.size <= maxAffinities) return;
    const [oldest] = this.#affinities.keys();
    if (oldest !== undefined) this.#affinities.delete(oldest);
  }

  async #request(worker: Worker): Promise<WorkerFacts> {
    try {
      worker.facts = await readFacts(worker, this.#options.model, this.#options.healthTimeoutMs);
      return worker.facts;
    } finally {
      worker.asking = undefined;
    }
  }

  async #check(worker: Worker): Promise<void> {
    const isWell = await checkHealth(worker, this.#options.healthTimeoutMs);
    if (this.#isClosed || this.#workers.get(worker.id) !== worker) return;
    worker.failedChecks = isWell ? 0 : worker.failedChecks + 1;
    if (isWell) worker.isAlive = true;
    // Nothing is known of a new one, so its first check decides.
    else if (worker.isAlive === null || worker.failedChecks >= checksToFail) worker.isAlive = false;
    if (isWell && !worker.facts) await this.facts(worker).catch(() => undefined);
  }
}

const kinds: ReadonlySet<string> = new Set(["auto", "vllm", "sglang", "llamacpp", "openai"]);

/** @throws ConfigError */
function checkSpec(spec: WorkerSpec | HttpWorker): HttpWorker {
  const { kind = "auto", weight = 1 } = spec;
  if (!kinds.has(kind)) {
    throw new ConfigError({
      message: `A worker's kind must be one of ${[...kinds].join(", ")}, but it is "${kind}".`,
      fields: { option: "kind", value: kind },
    });
  }
  if (!(weight > 0)) {
    throw new ConfigError({
      message: `A worker's weight must be above 0, but it is ${weight}.`,
      fields: { option: "weight", value: weight },
    });
  }
  return spec as HttpWorker;
}
