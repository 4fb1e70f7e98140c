/**
 * Many small writes, few commits: what arrives during one is committed together by the next.
 * Knows transactions, not what is written.
 */
import { type StoreError, toStoreError } from "../store-error.ts";

interface Write {
  readonly run: () => void;
  readonly resolve: () => void;
  readonly reject: (error: StoreError) => void;
}

const firstRetryMs = 5;
const maxRetryMs = 100;

/** One at a time. */
export interface Transaction {
  readonly isWriting: boolean;
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export interface GroupCommitOptions {
  readonly transaction: Transaction;
  /** For messages. */
  readonly path: string;
  /** How long to try again while another process writes. */
  readonly busyTimeoutMs: number;
  readonly onCommit: (writes: number, milliseconds: number) => void;
}

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #queue: Write[] = [];
  #running: Promise<void> | undefined;

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
      // Calls that are ending now may have something to add.
      await new Promise((resolve) => setImmediate(resolve));
      const writes = this.#queue;
      this.#queue = [];
      await this.#commit(writes);
    }
    this.#running = undefined;
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
    const { busyTimeoutMs } = this.#options;
    const start = performance.now();
    for (let wait = firstRetryMs; ; wait = Math.min(2 * wait, maxRetryMs)) {
      const failure = await this.#commitOnce(writes, start);
      if (failure?.reason !== "busy" || performance.now() - start + wait > busyTimeoutMs) {
        return failure;
      }
      // SQLite's own waiting would stop the whole process.
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  async #commitOnce(writes: readonly Write[], start: number): Promise<StoreError | null> {
    const { transaction, path, onCommit } = this.#options;
    try {
      await transaction.begin();
      for (const { run } of writes) run();
      await transaction.commit();
      onCommit(writes.length, performance.now() - start);
      return null;
    } catch (error) {
      try {
        if (transaction.isWriting) await transaction.rollback();
      } catch {
        // SQLite has rolled back automatically, as it does when a disk is full.
      }
      return toStoreError(error, path);
    }
  }
}
