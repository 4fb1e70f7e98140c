/**
 * Memory for what one pass computes, as a stack: what was taken after a mark is free again when the arena returns to it.
 * Operations run in the order in which they were added, so the same memory may serve one after the other.
 */
import type { Device } from "../tensor/device.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";

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
  #pieces: Tensor[] = [];
  #piece = 0;
  #used = 0;

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
    this.#pieces.push(newTensor(this.#device, 1, Math.max(floats, pieceFloats)));
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

  /** Gives all memory back. */
  clear(): void {
    this.#pieces = [];
    this.release({ piece: 0, used: 0 });
  }
}
