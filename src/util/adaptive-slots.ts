/** A limit on how much happens at once that follows what a server can take. */
import { listenToAbort } from "./abort.ts";

/** One place, held until `give`. */
export interface AdaptiveSlot {
  /** The server refused for overload: half as much happens from now on. */
  overloaded(): void;
  /** Done, with success or without. */
  give(): void;
}

/**
 * Additive increase, multiplicative decrease (Chiu and Jain 1989): an overload halves the limit, and as many
 * successes as the limit raise it by one, up to where it began. Requests that were sent before a decrease
 * do not decrease it again: they say nothing of the new limit.
 */
export class AdaptiveSlots {
  readonly #most: number;
  #limit: number;
  #taken = 0;
  /** Of decreases. */
  #generation = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  /** How much may happen at once now. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  async take(signal?: AbortSignal): Promise<AdaptiveSlot> {
    signal?.throwIfAborted();
    if (this.#taken < this.limit) this.#taken += 1;
    else await this.#wait(signal);
    return this.#slot();
  }

  #slot(): AdaptiveSlot {
    let generation = this.#generation;
    let isOverloaded = false;
    let isGiven = false;
    return {
      overloaded: () => {
        isOverloaded = true;
        if (generation === this.#generation) {
          this.#limit = Math.max(1, this.#limit / 2);
          this.#generation += 1;
        }
        generation = this.#generation;
      },
      give: () => {
        if (isGiven) return;
        isGiven = true;
        this.#taken -= 1;
        if (!isOverloaded) this.#limit = Math.min(this.#most, this.#limit + 1 / this.#limit);
        while (this.#waiting.length > 0 && this.#taken < this.limit) {
          // Taken here, so that a `take` in between does not have it, too.
          this.#taken += 1;
          this.#waiting.shift()?.();
        }
      },
    };
  }

  /** In line; the place is taken when it resolves. */
  #wait(signal?: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason);
      };
      if (signal !== undefined) listenToAbort(signal, leave);
      this.#waiting.push(enter);
    });
  }
}
