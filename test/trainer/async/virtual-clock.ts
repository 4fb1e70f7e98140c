/** Time that passes only when everybody waits for it, so simulations are exact and take no time. */

interface Sleeper {
  readonly at: number;
  readonly order: number;
  readonly wake: () => void;
}

/** Lets promises that can go on do so. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class VirtualClock {
  now = 0;
  #order = 0;
  #stops = 0;
  #sleepers: Sleeper[] = [];

  sleep(duration: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = { at: this.now + duration, order: this.#order++, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      });
    });
  }

  /** Time stands still until `go`: what is done meanwhile, such as writing files, takes none. */
  stop(): void {
    this.#stops++;
  }

  go(): void {
    this.#stops--;
  }

  /** Runs until `work` has ended. @throws Error when everybody waits and nobody sleeps. */
  async run<T>(work: Promise<T>): Promise<T> {
    return (await this.runUntil(work, Infinity)) as T;
  }

  /** Null when `work` has not ended at `end`: then nobody is woken any more, as in a process that was killed. */
  async runUntil<T>(work: Promise<T>, end: number): Promise<T | null> {
    let isOver = false;
    const ended = work.finally(() => (isOver = true));
    ended.catch(() => {});
    for (;;) {
      await settle();
      if (isOver) return await ended;
      if (this.#stops > 0) continue;
      this.#sleepers.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = this.#sleepers.shift();
      if (next === undefined) throw new Error(`Deadlock at ${this.now}: nobody will wake anybody.`);
      if (next.at > end) {
        this.now = end;
        this.#sleepers = [];
        return null;
      }
      this.now = next.at;
      next.wake();
    }
  }
}
