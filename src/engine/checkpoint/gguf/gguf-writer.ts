/**
 * The header of a GGUF file (version 3): metadata, and a list of its tensors.
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */

/** Other values imply their type; numbers need an explicit one. */
export type GgufValue =
  | string
  | boolean
  | readonly string[]
  | Int32Array
  | { readonly uint32: number }
  | { readonly float32: number };

export type GgufValues = ReadonlyMap<string, GgufValue>;

export interface GgufTensorEntry {
  readonly name: string;
  /** ggml's number of the type. */
  readonly type: number;
  /** Row-major. */
  readonly shape: readonly number[];
  readonly bytes: number;
}

const valueTypes = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const version = 3;
const ggufAlignment = 32;

/** Collects little-endian numbers and strings. */
class Bytes {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  raw(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.length += bytes.length;
  }

  number(size: 1 | 4 | 8, write: (view: DataView) => void): void {
    const bytes = new Uint8Array(size);
    write(new DataView(bytes.buffer));
    this.raw(bytes);
  }

  uint32(value: number): void {
    this.number(4, (view) => view.setUint32(0, value, true));
  }

  uint64(value: number): void {
    this.number(8, (view) => view.setBigUint64(0, BigInt(value), true));
  }

  text(value: string): void {
    const bytes = new TextEncoder().encode(value);
    this.uint64(bytes.length);
    this.raw(bytes);
  }

  joined(size: number): Uint8Array {
    const all = new Uint8Array(size);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

function writeValue(out: Bytes, value: GgufValue): void {
  if (typeof value === "string") {
    out.uint32(valueTypes.string);
    out.text(value);
  } else if (typeof value === "boolean") {
    out.uint32(valueTypes.bool);
    out.raw(Uint8Array.of(value ? 1 : 0));
  } else if (value instanceof Int32Array) {
    out.uint32(valueTypes.array);
    out.uint32(valueTypes.int32);
    out.uint64(value.length);
    out.raw(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if ("uint32" in value) {
    out.uint32(valueTypes.uint32);
    out.uint32(value.uint32);
  } else if ("float32" in value) {
    out.uint32(valueTypes.float32);
    out.number(4, (view) => view.setFloat32(0, value.float32, true));
  } else {
    out.uint32(valueTypes.array);
    out.uint32(valueTypes.string);
    out.uint64(value.length);
    for (const item of value) out.text(item);
  }
}

const align = (size: number): number => Math.ceil(size / ggufAlignment) * ggufAlignment;

/** The header, padded, and where the bytes of each tensor belong. */
export function ggufHeader(
  values: GgufValues,
  tensors: readonly GgufTensorEntry[],
): {
  readonly bytes: Uint8Array;
  readonly offsets: ReadonlyMap<string, number>;
  readonly size: number;
} {
  const out = new Bytes();
  out.raw(new TextEncoder().encode("GGUF"));
  out.uint32(version);
  out.uint64(tensors.length);
  out.uint64(values.size);
  for (const [key, value] of values) {
    out.text(key);
    writeValue(out, value);
  }
  const relative = new Map<string, number>();
  let end = 0;
  for (const { name, type, shape, bytes } of tensors) {
    out.text(name);
    out.uint32(shape.length);
    for (const dim of shape.toReversed()) out.uint64(dim);
    out.uint32(type);
    out.uint64(end);
    relative.set(name, end);
    end = align(end + bytes);
  }
  const start = align(out.length);
  const offsets = new Map(Array.from(relative, ([name, offset]) => [name, start + offset]));
  return { bytes: out.joined(start), offsets, size: start + end };
}
