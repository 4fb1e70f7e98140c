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

export interface WorkerPoolOptions extends WorkerOptions {
  readonly healthIntervalMs: number;
  readonly healthTimeoutMs: number;
  /** The model that is requested where a worker has it. */
  readonly model: string;
}

/** @throws ConfigError */
function checkKind({ kind = "auto" }: HttpWorker): void {
  if (kind === "auto" || Object.hasOwn(tokenAdapters, kind)) return;
  const kinds = ["auto", ...Object.keys(tokenAdapters)].join(", ");
  throw new ConfigError({
    message: `A worker's kind must be one of ${kinds}, but it is "${kind}".`,
    fields: { option: "kind", value: kind },
  });
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers: readonly Worker[];
  readonly #affinities = new Map<string, Worker>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  /** @throws ConfigError */
  constructor(workers: readonly HttpWorker[], options: WorkerPoolOptions) {
    this.#options = options;
    this.#workers = workers.map((spec, i) => {
      checkKind(spec);
      return new Worker(spec.id ?? `worker-${i + 1}`, spec, options);
    });
    const check = (): void => {
      for (const worker of this.#workers) void this.#check(worker);
    };
    check();
    this.#timer = setInterval(check, options.healthIntervalMs);
    this.#timer.unref();
  }

  /** The shortest that a worker reported; Infinity while none did. */
  get contextLength(): number {
    return Math.min(...this.#workers.map(({ facts }) => facts?.contextLength ?? Infinity));
  }

  /** The worker that a call goes to; undefined when none is alive. `tried` come last, doubtful ones before. */
  pick(affinity: string, tried: ReadonlySet<Worker>): Worker | undefined {
    const alive = this.#workers.filter((worker) => worker.isAlive);
    const fresh = alive.filter((worker) => !tried.has(worker));
    const sound = fresh.filter((worker) => !worker.isDoubtful);
    const candidates = [sound, fresh, alive].find((workers) => workers.length > 0) ?? [];
    const known = this.#affinities.get(affinity);
    const isKnown = known !== undefined && candidates.includes(known) && !tried.has(known);
    const [first] = candidates.toSorted((a, b) => a.activeRequests - b.activeRequests);
    const picked = isKnown ? known : first;
    if (picked) this.#remember(affinity, picked);
    return picked;
  }

  /** Milliseconds after which a worker that is out may be back. */
  get retryMs(): number {
    return this.#options.healthIntervalMs;
  }

  /** Why a worker is out; undefined where no health check failed. */
  get problem(): string | undefined {
    const out = this.#workers.find(({ isAlive }) => !isAlive);
    return out?.problem === undefined ? undefined : out.redact(out.problem);
  }

  /** What the worker is; requested once, and again after a failure. @throws UpstreamError */
  async facts(worker: Worker): Promise<WorkerFacts> {
    if (worker.facts) return worker.facts;
    worker.asking ??= this.#request(worker);
    return worker.asking;
  }

  /** Resolves when some worker is known, or when all have failed. */
  async ready(): Promise<void> {
    const workers = this.#workers;
    if (workers.length === 0 || workers.some(({ facts }) => facts)) return;
    await Promise.any(workers.map((worker) => this.facts(worker))).catch(() => undefined);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const worker of this.#workers) worker.close();
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
    if (!isWell) return;
    worker.isDoubtful = false;
    await this.facts(worker).catch(() => undefined);
  }
}
