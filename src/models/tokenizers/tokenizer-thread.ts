/**
 * Encodes long texts in a separate thread, one after the other: a text of megabytes takes seconds, in
 * which the serving thread would block all requests. It starts with the first text and ends when idle.
 */
import { listenToAbort } from "../../util/abort.ts";
import type { Worker } from "node:worker_threads";
import { startThread } from "../../util/start-thread.ts";

/** First the tokenizer, then texts; each gets its response before the next is sent. */
export type ToTokenizer =
  | { readonly json: object; readonly source: string }
  | { readonly text: string };

export type FromTokenizer = { readonly ids: Int32Array } | { readonly error: string };

/** Idle time after which the thread ends and its memory is freed. */
const idleMs = 30_000;

interface Job {
  readonly text: string;
  readonly signal: AbortSignal;
  readonly resolve: (ids: Iterable<number>) => void;
  readonly reject: (error: unknown) => void;
}

export class TokenizerThread {
  readonly #json: object;
  readonly #source: string;
  #worker: Worker | undefined;
  #running: Job | undefined;
  #waiting: Job[] = [];
  #idle: NodeJS.Timeout | undefined;

  /** @param json the parsed `tokenizer.json` */
  constructor(json: object, source: string) {
    this.#json = json;
    this.#source = source;
  }

  /** Rejects with the signal's reason once it is aborted; other texts then do not wait for this one. */
  encode(text: string, signal: AbortSignal): Promise<Iterable<number>> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const job: Job = { text, signal, resolve: settle(resolve), reject: settle(reject) };
      const onAbort = (): void => this.#cancel(job);
      function settle<T>(then: (value: T) => void): (value: T) => void {
        return (value) => {
          signal.removeEventListener("abort", onAbort);
          then(value);
        };
      }
      listenToAbort(signal, onAbort);
      this.#waiting.push(job);
      this.#next();
    });
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const job = this.#waiting.shift();
    clearTimeout(this.#idle);
    if (job === undefined) {
      this.#idle = setTimeout(() => this.#end(), idleMs).unref();
      this.#worker?.unref();
      return;
    }
    this.#running = job;
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    this.#send(worker, { text: job.text });
  }

  #start(): Worker {
    const worker = startThread("./tokenizer-worker", import.meta.url);
    worker.on("message", (message: FromTokenizer) => {
      if (worker !== this.#worker) return;
      if ("ids" in message) this.#settle((job) => job.resolve(message.ids));
      else this.#settle((job) => job.reject(new Error(message.error)));
    });
    const onEnd = (error: Error): void => {
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      this.#settle((job) => job.reject(error));
    };
    worker.on("error", onEnd);
    worker.on("exit", () => onEnd(new Error("The tokenizer's thread has ended.")));
    this.#send(worker, { json: this.#json, source: this.#source });
    return worker;
  }

  #send(worker: Worker, message: ToTokenizer): void {
    worker.postMessage(message);
  }

  #settle(how: (job: Job) => void): void {
    const job = this.#running;
    this.#running = undefined;
    if (job !== undefined) how(job);
    this.#next();
  }

  #cancel(job: Job): void {
    this.#waiting = this.#waiting.filter((other) => other !== job);
    job.reject(job.signal.reason);
    if (job !== this.#running) return;
    // There is no other way to stop an encoding.
    this.#end();
    this.#running = undefined;
    this.#next();
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}
