/**
 * The workers, which of them a call goes to, and their health. Knows no calls: sticky by affinity key,
 * otherwise the least loaded.
 */
import type { HttpWorker } from "../../../../core/backend.ts";
import { ConfigError } from "../../../../core/errors.ts";
import { tokenAdapters } from "../adapters/token-adapters.ts";
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

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers: readonly Worker[];
  readonly #affinities = new Map<string, Worker>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(workers: readonly HttpWorker[], options: WorkerPoolOptions) {
    this.#options = options;
    this.#workers = workers.map((spec, i) => {
      checkSpec(spec);
      return new Worker(spec.id ?? `worker-${i + 1}`, spec, options);
    });
    const check = (): void => this.#workers.forEach((worker) => void this.#check(worker));
    check();
    this.#timer = setInterval(check, options.healthIntervalMs);
    this.#timer.unref();
  }

  /** The shortest that a worker reported; Infinity while none did. */
  get contextLength(): number {
    const known = this.#workers.map(({ facts }) => facts?.contextLength ?? Infinity);
    return Math.min(Infinity, ...known);
  }

  /** The worker that a call goes to; undefined when none may get one. `avoid` comes last. */
  pick(affinity: string, avoid: ReadonlySet<Worker>): Worker | undefined {
    const sticky = this.#affinities.get(affinity);
    if (sticky?.isOpen && !avoid.has(sticky)) {
      this.#remember(affinity, sticky);
      return sticky;
    }
    const open = this.#workers.filter((worker) => worker.isOpen);
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
    const waits = this.#workers.map(({ circuit, isAlive }) =>
      isAlive === false ? healthIntervalMs : circuit.waitMs,
    );
    return Math.min(healthIntervalMs, ...waits);
  }

  /** Why a worker is out; undefined where no health check failed. */
  get problem(): string | undefined {
    const out = this.#workers.find(({ isAlive }) => isAlive === false);
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
    const workers = this.#workers;
    if (workers.length === 0 || workers.some(({ facts }) => facts)) return;
    await Promise.any(workers.map((worker) => this.facts(worker))).catch(() => undefined);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const worker of this.#workers) worker.close();
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
    if (this.#isClosed) return;
    worker.failedChecks = isWell ? 0 : worker.failedChecks + 1;
    if (isWell) worker.isAlive = true;
    // Nothing is known of a new one, so its first check decides.
    else if (worker.isAlive === null || worker.failedChecks >= checksToFail) worker.isAlive = false;
    if (isWell && !worker.facts) await this.facts(worker).catch(() => undefined);
  }
}

/** @throws ConfigError */
function checkSpec({ kind = "auto", weight = 1 }: HttpWorker): void {
  if (kind !== "auto" && !Object.hasOwn(tokenAdapters, kind)) {
    const kinds = ["auto", ...Object.keys(tokenAdapters)].join(", ");
    throw new ConfigError({
      message: `A worker's kind must be one of ${kinds}, but it is "${kind}".`,
      fields: { option: "kind", value: kind },
    });
  }
  if (weight > 0) return;
  throw new ConfigError({
    message: `A worker's weight must be above 0, but it is ${weight}.`,
    fields: { option: "weight", value: weight },
  });
}
