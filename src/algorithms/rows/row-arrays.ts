/**
 * The arrays of many rows, cut from a few large buffers: a separate array for each column of each row
 * would cost more than its content.
 */

/** Columns of one row, all of one length and filled with 0. */
export interface RowColumns {
  readonly tokens: Int32Array;
  readonly targetMask: Uint8Array;
  readonly samplingLogprobs: Float32Array;
  readonly advantages: Float32Array;
}

/** Positions in one buffer, at most: more would be one allocation of half a gigabyte. */
const maxSlab = 2 ** 25;
/** Buffer size when more is needed than was expected. */
const furtherSlab = 2 ** 16;

/** Bytes of a position in the three 32-bit columns. */
const wide = 4;

export class RowArrays {
  #numbers = new ArrayBuffer(0);
  #marks = new ArrayBuffer(0);
  #length = 0;
  /** Positions that are still free in the buffers. */
  #left = 0;
  #expected: number;

  /** @param expected positions of all rows together, as a guess: buffers are made for that many. */
  constructor(expected: number) {
    this.#expected = expected;
  }

  take(length: number): RowColumns {
    if (length > this.#left) this.#grow(length);
    const at = this.#length - this.#left;
    const byte = wide * at;
    const column = wide * this.#length;
    this.#left -= length;
    this.#expected -= length;
    return {
      tokens: new Int32Array(this.#numbers, byte, length),
      targetMask: new Uint8Array(this.#marks, at, length),
      samplingLogprobs: new Float32Array(this.#numbers, byte + column, length),
      advantages: new Float32Array(this.#numbers, byte + 2 * column, length),
    };
  }

  #grow(least: number): void {
    const wanted = this.#expected > 0 ? Math.min(this.#expected, maxSlab) : furtherSlab;
    this.#length = Math.max(wanted, least);
    this.#left = this.#length;
    this.#numbers = new ArrayBuffer(3 * wide * this.#length);
    this.#marks = new ArrayBuffer(this.#length);
  }
}
