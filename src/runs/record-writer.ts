/**
 * Writes files of records: small ones at once, others on a thread that is started by the first of them. Measured
 * on 64 episodes of 8 calls (19 MB): 430 ms of the gateway's thread without the thread, 30 ms with it.
 */
import type { Worker } from "node:worker_threads";
import { fileError } from "../core/file-error.ts";
import { startThread } from "../util/start-thread.ts";
import { type PlannedFile, writePlanned } from "./record-lines.ts";
import type { Written } from "./record-thread.ts";

/** Numbers that are written at once: some 20 ms of work, as long as a thread takes to start. */
const fewNumbers = 100_000;

interface Waiting {
  readonly file: PlannedFile;
  readonly done: () => void;
}

export class RecordWriter {
  #thread: Worker | undefined;
  readonly #waiting: Waiting[] = [];
  #last: Promise<void> = Promise.resolve();
  #failure: unknown = null;
  readonly #start: () => Worker;

  /** @param start another thread, for tests */
  constructor(start: () => Worker = () => startThread("./record-thread", import.meta.url)) {
    this.#start = start;
  }

  /** @param numbers how many there are in the records, about. @throws AgentTrainerError FILE_FAILED if it is written at once */
  write(file: PlannedFile, numbers: number): void {
    // In order: the same file may be waiting in the thread.
    if (this.#waiting.length === 0 && numbers <= fewNumbers) {
      writePlanned(file);
      return;
    }
    const thread = this.#open();
    try {
      thread.postMessage(file);
    } catch {
      // Something in a call is no plain data.
      this.#last = this.#last.then(() => writePlanned(file));
      this.#last.catch((error: unknown) => (this.#failure ??= error));
      return;
    }
    thread.ref();
    this.#last = new Promise((done) => this.#waiting.push({ file, done }));
  }

  /** Waits until everything is written. @throws AgentTrainerError FILE_FAILED */
  async flush(): Promise<void> {
    await this.#last.catch(() => {});
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure;
  }

  /** What is still waiting is written here: the process may be about to end. */
  close(): void {
    const waiting = this.#waiting.splice(0);
    void this.#thread?.terminate();
    this.#thread = undefined;
    for (const { file, done } of waiting) {
      // The thread may still be in the middle of it.
      writePlanned(file, { ending: "rest" });
      done();
    }
  }

  #open(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = this.#start();
    thread.unref();
    thread.on("message", ({ failure }: Written) => {
      if (failure !== null) {
        const error = Object.assign(new Error(failure.message), failure);
        this.#failure ??= fileError(error) ?? error;
      }
      this.#waiting.shift()?.done();
      if (this.#waiting.length === 0) thread.unref();
    });
    thread.on("error", () => this.#replace(thread));
    thread.on("exit", () => this.#replace(thread));
    this.#thread = thread;
    return thread;
  }

  /** The thread failed, as for lack of memory: the rest is written here, and the next file gets another thread. */
  #replace(thread: Worker): void {
    if (this.#thread !== thread) return;
    try {
      this.close();
    } catch (error) {
      this.#failure ??= error;
    }
  }
}
