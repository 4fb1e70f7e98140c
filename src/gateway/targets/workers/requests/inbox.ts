/** Values that arrive by messages, as an iteration. */

export class Inbox<T> {
  readonly #values: T[] = [];
  #end: { readonly error: unknown; readonly isFailure: boolean } | undefined;
  #wake: (() => void) | undefined;

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  push(value: T): void {
    this.#values.push(value);
    this.#wake?.();
  }

  /** Values pushed before are still yielded. */
  end(): void {
    this.#end ??= { error: undefined, isFailure: false };
    this.#wake?.();
  }

  /** Thrown after the values pushed before. */
  fail(error: unknown): void {
    this.#end ??= { error, isFailure: true };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      while (this.#values.length > 0) yield this.#values.shift() as T;
      if (this.#end) {
        if (this.#end.isFailure) throw this.#end.error;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
