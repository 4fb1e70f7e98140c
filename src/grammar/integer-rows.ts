/** Rows of integers, one after another in an array that grows. */
export class IntegerRows {
  /** Valid until the next `push`. */
  data: Int32Array = new Int32Array(64);
  readonly #width: number;
  #used = 0;

  constructor(width: number) {
    this.#width = width;
  }

  /** Rows */
  get length(): number {
    return this.#used / this.#width;
  }

  /** Index of the new row. */
  push(...values: readonly number[]): number {
    if (this.#used + this.#width > this.data.length) {
      const larger = new Int32Array(2 * this.data.length);
      larger.set(this.data);
      this.data = larger;
    }
    for (let i = 0; i < this.#width; i++) this.data[this.#used + i] = values[i]!;
    this.#used += this.#width;
    return this.#used / this.#width - 1;
  }

  /** A copy in memory that threads share. */
  shared(): Int32Array {
    const copy = new Int32Array(new SharedArrayBuffer(4 * this.#used));
    copy.set(this.data.subarray(0, this.#used));
    return copy;
  }
}
