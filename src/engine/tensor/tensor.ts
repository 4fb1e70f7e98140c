/** Typed views of native memory. They know their shape, nothing of what is computed. */
import type { NativeMemory } from "../native/native.ts";
import type { Device } from "./device.ts";

export type TensorType = "f32" | "bf16" | "i8" | "i32" | "f64";

const typeBytes: Readonly<Record<TensorType, number>> = { f32: 4, bf16: 2, i8: 1, i32: 4, f64: 8 };

/** Of views, which live no longer than they. */
const owners = new WeakMap<ArrayBufferView, NativeMemory>();

/** A matrix whose rows may lie apart, as columns of a wider one do. */
export class Tensor<T extends TensorType = "f32"> {
  readonly type: T;
  readonly rows: number;
  readonly columns: number;
  /** Elements from one row to the next; at least `columns`. */
  readonly stride: number;
  readonly #memory: NativeMemory;
  /** In elements. */
  readonly #offset: number;

  constructor(
    memory: NativeMemory,
    type: T,
    shape: { readonly rows: number; readonly columns: number; readonly stride?: number },
    offset = 0,
  ) {
    this.type = type;
    this.rows = shape.rows;
    this.columns = shape.columns;
    this.stride = shape.stride ?? shape.columns;
    this.#memory = memory;
    this.#offset = offset;
    const end = offset + (this.rows === 0 ? 0 : (this.rows - 1) * this.stride + this.columns);
    if (end * typeBytes[type] > memory.byteLength || this.stride < this.columns)
      throw new RangeError(`A tensor [${this.rows}, ${this.columns}] does not fit its memory.`);
  }

  get address(): number {
    return this.#memory.address + this.#offset * typeBytes[this.type];
  }

  get isContiguous(): boolean {
    return this.stride === this.columns || this.rows <= 1;
  }

  /** Some of its rows, in the same memory. */
  slice(firstRow: number, rows: number): Tensor<T> {
    return this.part(firstRow, rows, 0, this.columns);
  }

  /** Some of its columns, in the same memory. */
  columnsFrom(firstColumn: number, columns: number): Tensor<T> {
    return this.part(0, this.rows, firstColumn, columns);
  }

  part(firstRow: number, rows: number, firstColumn: number, columns: number): Tensor<T> {
    if (
      firstRow < 0 ||
      firstColumn < 0 ||
      firstRow + rows > this.rows ||
      firstColumn + columns > this.columns
    )
      throw new RangeError(
        `[${firstRow}, ${firstColumn}] + [${rows}, ${columns}] is not within [${this.rows}, ${this.columns}].`,
      );
    const offset = this.#offset + firstRow * this.stride + firstColumn;
    return new Tensor(this.#memory, this.type, { rows, columns, stride: this.stride }, offset);
  }

  /** The same elements in rows of another length. @throws RangeError where its rows lie apart, or not all fit */
  reshaped(rows: number, columns: number): Tensor<T> {
    if (!this.isContiguous || rows * columns !== this.rows * this.columns)
      throw new RangeError(`[${this.rows}, ${this.columns}] is not [${rows}, ${columns}].`);
    return new Tensor(this.#memory, this.type, { rows, columns }, this.#offset);
  }

  /** The beginning of its memory as other numbers. @throws RangeError where its rows lie apart, or are too few */
  as<U extends TensorType>(type: U, rows: number, columns: number): Tensor<U> {
    const bytes = this.rows * this.columns * typeBytes[this.type];
    const start = this.#offset * typeBytes[this.type];
    if (
      !this.isContiguous ||
      rows * columns * typeBytes[type] > bytes ||
      start % typeBytes[type] !== 0
    )
      throw new RangeError(
        `[${this.rows}, ${this.columns}] has no room for [${rows}, ${columns}].`,
      );
    return new Tensor(this.#memory, type, { rows, columns }, start / typeBytes[type]);
  }

  /** Its elements as an array on the same memory. @throws RangeError where its rows lie apart. */
  get data(): TensorArray<T> {
    if (!this.isContiguous) throw new RangeError("The rows of this tensor lie apart.");
    const { buffer, byteOffset } = this.#memory;
    const start = byteOffset + this.#offset * typeBytes[this.type];
    const view = new arrays[this.type](buffer as ArrayBuffer, start, this.rows * this.columns);
    // A view of wasm's memory does not keep this part of it.
    if (buffer instanceof SharedArrayBuffer) owners.set(view, this.#memory);
    return view as TensorArray<T>;
  }

  /** Row `row`, on the same memory. */
  row(row: number): TensorArray<T> {
    return this.slice(row, 1).data;
  }
}

interface TensorArrays {
  readonly f32: Float32Array;
  readonly bf16: Uint16Array;
  readonly i8: Int8Array;
  readonly i32: Int32Array;
  readonly f64: Float64Array;
}
export type TensorArray<T extends TensorType> = TensorArrays[T];

const arrays = {
  f32: Float32Array,
  bf16: Uint16Array,
  i8: Int8Array,
  i32: Int32Array,
  f64: Float64Array,
} as const;

/** Zeros. */
export function newTensor<T extends TensorType = "f32">(
  device: Device,
  rows: number,
  columns: number,
  type: T = "f32" as T,
): Tensor<T> {
  return new Tensor(device.allocate(rows * columns * typeBytes[type]), type, { rows, columns });
}

/** A new row with these numbers. */
export function tensorOf<T extends TensorType = "f32">(
  device: Device,
  values: ArrayLike<number>,
  type: T = "f32" as T,
): Tensor<T> {
  const tensor = newTensor(device, 1, values.length, type);
  tensor.data.set(values);
  return tensor;
}
