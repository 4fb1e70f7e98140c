/**
 * Memory for what one pass computes, as a stack: what was taken after a mark is free again when the arena returns to it.
 * Operations run in the order in which they were added, so the same memory may serve one after the other.
 */
import type { NativeMemory } from "../native/native.ts";
import type { Device } from "../tensor/device.ts";
import { Tensor } from "../tensor/tensor.ts";

/** Floats of a piece, unless more are needed at once. */
const pieceFloats = 2 ** 22;
/** Rows begin at cache lines. */
const align = (floats: number): number => Math.ceil(floats / 16) * 16;

export interface ArenaMark {
  readonly piece: number;
  readonly used: number;
}

export class Arena {
  readonly #device: Device;
  readonly #memories: NativeMemory[] = [];
  #pieces: Tensor[] = [];
  #piece = 0;
  #used = 0;
  /** Of each of the sizes of passes. */
  #largest: readonly number[] = [];

  constructor(device: Device) {
    this.#device = device;
  }

  /** Floats that it holds. */
  get size(): number {
    return this.#pieces.reduce((sum, { columns }) => sum + columns, 0);
  }

  /** What it holds is left over from before. */
  take(rows: number, columns: number): Tensor {
    const floats = align(rows * columns);
    while (this.#piece < this.#pieces.length) {
      const piece = this.#pieces[this.#piece]!;
      if (this.#used + floats <= piece.columns) {
        const start = this.#used;
        this.#used += floats;
        return piece.columnsFrom(start, rows * columns).reshaped(rows, columns);
      }
      this.#piece += 1;
      this.#used = 0;
    }
    const size = Math.max(floats, pieceFloats);
    const memory = this.#device.allocate(4 * size);
    this.#memories.push(memory);
    this.#pieces.push(new Tensor(memory, "f32", { rows: 1, columns: size }));
    return this.take(rows, columns);
  }

  get mark(): ArenaMark {
    return { piece: this.#piece, used: this.#used };
  }

  /** Frees what was taken since. */
  release({ piece, used }: ArenaMark): void {
    this.#piece = piece;
    this.#used = used;
  }

  /**
   * Before a pass, while nothing is taken and nothing runs: pieces that were made for smaller passes are given back, since
   * none of them would fit and they would be held next to the new ones.
   * @param sizes of the pass, as its tokens
   */
  fit(...sizes: readonly number[]): void {
    if (this.#piece > 0 || this.#used > 0) return;
    const isLarger = sizes.some((size, i) => size > (this.#largest[i] ?? 0));
    if (!isLarger) return;
    this.#largest = sizes.map((size, i) => Math.max(size, this.#largest[i] ?? 0));
    this.#pieces = [];
    for (const memory of this.#memories.splice(0)) this.#device.native.release(memory);
  }
}
