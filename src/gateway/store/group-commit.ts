/**
 * Many small writes, few commits: what arrives together is committed together. Knows a database's
 * transactions, not its tables.
 */
import type { Database } from "libsql";
import { StoreError, toStoreError } from "./store-error.ts";

interface Write {
  readonly run: () => void;
  readonly resolve: () => void;
  readonly reject: (error: StoreError) => void;
}

/** While calls come together, a commit begins at the earliest this long after the last, to group more. */
const commitGapMs = 1;
const firstRetryMs = 5;
const longestRetryMs = 100;

export interface GroupCommitOptions {
  readonly db: Database;
  readonly path: string;
  /** How long to try again while another process writes. */
  readonly busyTimeoutMs: number;
  readonly onCommit: (writes: number, milliseconds: number) => void;
}

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #queue: Write[] = [];
  #running: Promise<void> | undefined;
  #lastEnd = 0;
  #lastSize = 0;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Resolves when what `run` wrote is on the disk. @throws StoreError; nothing of it was written then. */
  add(run: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ run, resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when everything added so far is on the disk, or has failed. */
  async flush(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#pause();
      const writes = this.#queue;
      this.#queue = [];
      this.#lastSize = writes.length;
      await this.#commit(writes);
    }
    this.#running = undefined;
  }

  #pause(): Promise<void> {
    // A client that calls one by one would only wait longer.
    const gap = this.#lastSize > 1 ? this.#lastEnd + commitGapMs - performance.now() : 0;
    return new Promise((resolve) => {
      if (gap > 0) setTimeout(resolve, gap);
      else setImmediate(resolve);
    });
  }

  async #commit(writes: readonly Write[]): Promise<void> {
    const failure = await this.#tryCommit(writes);
    if (!failure) {
      for (const { resolve } of writes) resolve();
      return;
    }
    // One bad write must not take the others with it.
    const isShared = failure.reason === "duplicate" && writes.length > 1;
    for (const write of writes) {
      const own = isShared ? await this.#tryCommit([write]) : failure;
      if (own) write.reject(own);
      else write.resolve();
    }
  }

  async #tryCommit(writes: readonly Write[]): Promise<StoreError | null> {
    const { path, busyTimeoutMs } = this.#options;
    const start = performance.now();
    for (let wait = firstRetryMs; ; wait = Math.min(2 * wait, longestRetryMs)) {
      const failure = this.#commitOnce(writes, start);
      if (failure?.reason !== "busy" || performance.now() - start + wait > busyTimeoutMs) {
        return failure;
      }
      // SQLite's own waiting would stop the whole process.
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (!this.#options.db.open) return new StoreError("closed", `${path} was closed.`);
    }
  }

  #commitOnce(writes: readonly Write[], start: number): StoreError | null {
    const { db, path, onCommit } = this.#options;
    try {
      db.exec("BEGIN IMMEDIATE");
      for (const { run } of writes) run();
      db.exec("COMMIT");
      this.#lastEnd = performance.now();
      onCommit(writes.length, this.#lastEnd - start);
      return null;
    } catch (error) {
      try {
        if (db.inTransaction) db.exec("ROLLBACK");
      } catch {
        // SQLite has rolled back by itself, as it does when a disk is full.
      }
      return toStoreError(error, path);
    }
  }
}
