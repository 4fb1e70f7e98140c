/** Sizes, numbers and tensors for fuzzed operations: with odd edges, and so that a step too far leaves the memory. */
import type { Device } from "../../src/engine/tensor/device.ts";
import { newTensor, type Tensor, type TensorType } from "../../src/engine/tensor/tensor.ts";

export class FuzzInputs {
  readonly device: Device;
  readonly #random: () => number;

  constructor(device: Device, random: () => number) {
    this.device = device;
    this.#random = random;
  }

  /** 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  pick<T>(...values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** 1 to `most`, often next to a width of vectors or panels. */
  size(most: number): number {
    const edge = this.pick(1, 2, 4, 8, 16, 32, 48, 64, 96, 128) + this.pick(-1, 0, 1);
    const size = this.pick(edge, 1 + this.below(most));
    return Math.min(most, Math.max(1, size));
  }

  /** Mostly in [-1, 1]; `wild` has what a model that diverges has. */
  number(wild = false): number {
    if (wild && this.below(20) === 0) return this.pick(NaN, Infinity, -Infinity, 1e38, -1e38, 0);
    return 2 * this.#random() - 1;
  }

  /** Its last element is the last of its memory; half of them are columns of a wider one. */
  tensor(rows: number, columns: number, wild = false): Tensor {
    const more = this.pick(0, this.size(20));
    const all = newTensor(this.device, rows, columns + more);
    const { data } = all;
    for (let i = 0; i < data.length; i++) data[i] = this.number(wild);
    return all.columnsFrom(more, columns);
  }

  /** Without gaps, of `value`s. */
  row<T extends TensorType>(columns: number, type: T, value: () => number): Tensor<T> {
    return this.rows(1, columns, type, value);
  }

  rows<T extends TensorType>(
    rows: number,
    columns: number,
    type: T,
    value: () => number,
  ): Tensor<T> {
    const tensor = newTensor(this.device, rows, columns, type);
    const { data } = tensor;
    for (let i = 0; i < data.length; i++) data[i] = value();
    return tensor;
  }

  numbers(rows: number, columns: number, wild = false): Tensor {
    return this.rows(rows, columns, "f32", () => this.number(wild));
  }

  ids(count: number, end: number): Tensor<"i32"> {
    return this.row(count, "i32", () => this.below(end));
  }
}
