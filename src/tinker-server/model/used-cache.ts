/** Values by key, those used last: clients choose ranks, so that there could be hundreds. What is in use stays. */
interface Entry<Value> {
  readonly value: Value;
  users: number;
}

export class UsedCache<Value> {
  readonly #limit: number;
  readonly #close: (value: Value) => Promise<void>;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<Value>>();

  /** @param close what is dropped. @default nothing */
  constructor(limit: number, close: (value: Value) => Promise<void> = async () => undefined) {
    this.#limit = limit;
    this.#close = close;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Makes it where it is not there. */
  async use<Result>(
    key: string,
    make: () => Value,
    work: (value: Value) => Promise<Result>,
  ): Promise<Result> {
    const entry = this.#entries.get(key) ?? { value: make(), users: 0 };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users += 1;
    try {
      return await work(entry.value);
    } finally {
      entry.users -= 1;
      await this.#dropOldest();
    }
  }

  async #dropOldest(): Promise<void> {
    const idle = [...this.#entries].filter(([, { users }]) => users === 0);
    const surplus = idle.slice(0, Math.max(0, this.#entries.size - this.#limit));
    for (const [key] of surplus) this.#entries.delete(key);
    await Promise.all(surplus.map(([, { value }]) => this.#close(value)));
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.allSettled(entries.map(({ value }) => this.#close(value)));
  }
}
