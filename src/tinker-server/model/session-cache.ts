/**
 * Loaded graphs by key, those used last. Each keeps memory of its largest run, and clients choose ranks
 * and losses, so that there could be hundreds.
 */
export interface Closable {
  close(): Promise<void>;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  users: number;
}

export class SessionCache<Value extends Closable> {
  readonly #limit: number;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<Value>>();

  /** @param limit of those that are not in use; what is in use is never closed. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Makes it where it is not there. */
  async use<Result>(
    key: string,
    make: () => Promise<Value>,
    work: (value: Value) => Promise<Result>,
  ): Promise<Result> {
    const entry = this.#entries.get(key) ?? { value: make(), users: 0 };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users += 1;
    try {
      return await work(await entry.value);
    } catch (error) {
      // What could not be made is tried anew by the next.
      const isMade = await entry.value.then(
        () => true,
        () => false,
      );
      if (!isMade && this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    } finally {
      entry.users -= 1;
      await this.#closeOldest();
    }
  }

  async #closeOldest(): Promise<void> {
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    const surplus = idle.slice(0, Math.max(0, this.#entries.size - this.#limit));
    for (const [key] of surplus) this.#entries.delete(key);
    for (const [, { value }] of surplus) await (await value).close();
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const { value } of entries)
      await value.then((open) => open.close()).catch(() => undefined);
  }
}
