/**
 * Tensors as Tinker's API exchanges them. Two types travel, float32 and int64; int64 are token ids,
 * which fit in 32 bits and are stored so.
 */
import { TinkerWireError } from "../tinker-error.ts";

/** A dense tensor of 32-bit floats, row-major. */
export interface FloatTensor {
  readonly dtype: "float32";
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** A dense tensor of token ids, row-major. */
export interface IdTensor {
  /** On the wire; in memory 32 bits are enough. */
  readonly dtype: "int64";
  readonly data: Int32Array;
  readonly shape: readonly number[];
}

/** Dense and row-major; the product of `shape` is the length of `data`. */
export type TinkerTensor = FloatTensor | IdTensor;

/** A tensor with one dimension of these numbers, such as `weights` or `advantages` of a datum. */
export function createFloatTensor(data: Float32Array): FloatTensor {
  return { dtype: "float32", data, shape: [data.length] };
}

/** A tensor with one dimension of these ids, such as `target_tokens` of a datum. */
export function createIdTensor(data: Int32Array): IdTensor {
  return { dtype: "int64", data, shape: [data.length] };
}

/** The bytes of an array, in place. */
export function bytesOf(data: Float32Array | Int32Array): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Ids as little-endian 64-bit integers. */
export function int64Bytes(ids: Int32Array): Uint8Array {
  const halves = new Int32Array(Buffer.allocUnsafeSlow(ids.length * 8).buffer);
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!;
    halves[2 * i] = id;
    halves[2 * i + 1] = id >> 31;
  }
  return bytesOf(halves);
}

/** @throws TinkerWireError when one does not fit in 32 bits. */
export function readInt64(bytes: Uint8Array): Int32Array {
  const halves = readInt32(bytes);
  const ids = new Int32Array(halves.length / 2);
  for (let i = 0; i < ids.length; i++) {
    ids[i] = halves[2 * i]!;
    if (halves[2 * i + 1] !== ids[i]! >> 31)
      throw new TinkerWireError("An integer of this message does not fit in 32 bits.");
  }
  return ids;
}

/** A copy, since views of other arrays need not be aligned. */
export function readInt32(bytes: Uint8Array): Int32Array {
  return new Int32Array(copyOf(bytes, 4));
}

export function readFloat32(bytes: Uint8Array): Float32Array {
  return new Float32Array(copyOf(bytes, 4));
}

/** The upper halves of 32-bit floats. */
export function readBfloat16(bytes: Uint8Array): Float32Array {
  const words = new Uint16Array(copyOf(bytes, 2));
  return new Float32Array(Uint32Array.from(words, (word) => word << 16).buffer);
}

function copyOf(bytes: Uint8Array, unit: number): ArrayBuffer {
  if (bytes.length % unit !== 0)
    throw new TinkerWireError(`${bytes.length} bytes are not an array of ${unit}-byte numbers.`);
  // Not `slice`, which for a Buffer is a view.
  return new Uint8Array(bytes).buffer;
}

/** Most cells of a sparse matrix that is made dense. */
const largestMatrix = 2 ** 26;

/** A dense tensor of a compressed sparse row matrix. @throws TinkerWireError when its indices do not fit. */
export function densify(
  values: TinkerTensor,
  rowStarts: ArrayLike<number>,
  columns: ArrayLike<number>,
): TinkerTensor {
  const [rows = 0, width = 0] = values.shape;
  const isFitting =
    values.shape.length === 2 &&
    rows >= 0 &&
    width >= 0 &&
    rows * width <= largestMatrix &&
    rowStarts.length === rows + 1 &&
    columns.length === values.data.length &&
    Array.from(columns).every((column) => column >= 0 && column < width) &&
    Array.from(rowStarts).every((start, i) => start >= (rowStarts[i - 1] ?? 0)) &&
    rowStarts[rows] === columns.length;
  if (!isFitting)
    throw new TinkerWireError(
      `The indices of a sparse tensor do not fit its shape [${values.shape.join()}].`,
    );
  const data: Float32Array | Int32Array =
    values.dtype === "float32" ? new Float32Array(rows * width) : new Int32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    for (let i = rowStarts[row]!; i < rowStarts[row + 1]!; i++)
      data[row * width + columns[i]!] = values.data[i]!;
  }
  return { ...values, data } as TinkerTensor;
}
