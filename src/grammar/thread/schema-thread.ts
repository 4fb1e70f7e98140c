/**
 * The thread that compiles schemas, for all sessions of this process: groups (sessions) take turns, so one that
 * sends many does not keep the others waiting. Knows no cache.
 */
import type { Worker } from "node:worker_threads";
import { startThread } from "../../util/start-thread.ts";
import { GrammarLimitError } from "../work-budget.ts";
import type { SchemaOutcome } from "./schema-outcome.ts";

interface Job {
  /** JSON: a text is copied to a thread many times faster than objects. */
  readonly schema: string;
  readonly resolve: (outcome: SchemaOutcome) => void;
}

export interface CompileJob {
  /** Never, where it was taken back. */
  readonly outcome: Promise<SchemaOutcome>;
  /** Leaves the queue; false where the thread has begun, or has ended. */
  takeBack(): boolean;
}

/** Second walls behind the budget of steps, which ends long before on any machine that is not overloaded. */
const maxMs = 30_000;
const resourceLimits = { maxOldGenerationSizeMb: 512 };

/** Schemas of one group that may wait. */
const maxWaiting = 32;

const refusal = (problem: string): SchemaOutcome => ({ problem, isLimit: true });

export class SchemaThread {
  #worker: Worker | undefined;
  #running: (Job & { readonly timer: NodeJS.Timeout }) | undefined;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Job[]>();

  /** @param schema as JSON @throws GrammarLimitError where too many of the group are waiting. */
  compile(schema: string, group: string): CompileJob {
    const jobs = this.#waiting.get(group) ?? [];
    if (jobs.length >= maxWaiting)
      throw new GrammarLimitError(
        `${maxWaiting} other schemas are waiting to be compiled; send it again later`,
      );
    let resolve!: Job["resolve"];
    const outcome = new Promise<SchemaOutcome>((settle) => {
      resolve = settle;
    });
    const job: Job = { schema, resolve };
    jobs.push(job);
    this.#waiting.set(group, jobs);
    this.#next();
    return { outcome, takeBack: () => this.#takeBack(job, group) };
  }

  #takeBack(job: Job, group: string): boolean {
    const jobs = this.#waiting.get(group);
    const at = jobs?.indexOf(job) ?? -1;
    if (jobs === undefined || at === -1) return false;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#waiting.delete(group);
    return true;
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const [first] = this.#waiting;
    if (first === undefined) {
      // An idle thread must not keep the process alive.
      this.#worker?.unref();
      return;
    }
    const [group, jobs] = first;
    const job = jobs.shift()!;
    this.#waiting.delete(group);
    if (jobs.length > 0) this.#waiting.set(group, jobs);
    const worker = (this.#worker ??= this.#start());
    const timer = setTimeout(() => {
      this.#end(worker, refusal(`it takes more than ${maxMs / 1000} seconds to compile`));
    }, maxMs);
    this.#running = { ...job, timer };
    worker.ref();
    worker.postMessage(job.schema);
  }

  #start(): Worker {
    const worker = startThread("./schema-worker", import.meta.url, { resourceLimits });
    worker.on("message", (outcome: SchemaOutcome) => this.#settle(outcome));
    const { maxOldGenerationSizeMb: memory } = resourceLimits;
    worker.on("error", (error: Error & { code?: string }) => {
      const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      const problem = isMemory ? `it takes more than ${memory} MB to compile` : error.message;
      this.#end(worker, refusal(problem));
    });
    worker.on("exit", () => this.#end(worker, refusal("the thread that compiles it has ended")));
    return worker;
  }

  /** The next schema gets a new thread. */
  #end(worker: Worker, outcome: SchemaOutcome): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    this.#settle(outcome);
  }

  #settle(outcome: SchemaOutcome): void {
    const job = this.#running;
    if (job === undefined) return;
    clearTimeout(job.timer);
    this.#running = undefined;
    job.resolve(outcome);
    this.#next();
  }
}
