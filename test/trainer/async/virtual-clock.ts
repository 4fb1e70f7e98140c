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

  /** Runs until `work` has ended. @throws Error when everybody waits and nobody sleeps. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const ended = work.finally(() => (isOver = true));
    ended.catch(() => {});
    for (;;) {
      await settle();
      if (isOver) return await ended;
      this.#sleepers.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = this.#sleepers.shift();
      if (next === undefined) throw new Error(`Deadlock at ${this.now}: nobody will wake anybody.`);
      this.now = next.at;
      next.wake();
    }
  }
}
