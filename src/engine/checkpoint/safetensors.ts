/**
 * The safetensors format: an 8-byte header length, a JSON header, raw little-endian tensors.
 * https://github.com/huggingface/safetensors#format
 */
import { open, readFile } from "node:fs/promises";
import { ModelError } from "../../core/errors.ts";
import { checkFile } from "../../util/files/regular-file.ts";
import { fromBfloat16, fromHalf } from "./half-floats.ts";

export type StoredType = "F32" | "F16" | "BF16";

/** Where one tensor is in a file. */
export interface TensorEntry {
  readonly dtype: StoredType;
  readonly shape: readonly number[];
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly length: number;
}

export interface NamedTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export const bytesPerElement: Record<StoredType, number> = { F32: 4, F16: 2, BF16: 2 };
/** The reference implementation's limit. */
const maxHeaderBytes = 100_000_000;

function fail(file: string, why: string): never {
  throw new ModelError({
    message: `${file} is not a usable safetensors file: ${why}.`,
    hint: "Download or save the file again.",
    fields: { file },
  });
}

/** Reads only the header. @throws ModelError */
export async function readHeader(file: string): Promise<ReadonlyMap<string, TensorEntry>> {
  await checkFile(file);
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    if (size < 8) fail(file, `it has ${size} bytes`);
    const prefix = Buffer.alloc(8);
    await handle.read(prefix, 0, 8, 0);
    const headerLength = Number(prefix.readBigUInt64LE());
    if (headerLength > maxHeaderBytes || 8 + headerLength > size)
      fail(file, "its header is cut short");
    const header = Buffer.alloc(headerLength);
    await handle.read(header, 0, headerLength, 8);
    return parseHeader(file, header.toString("utf8"), 8 + headerLength, size);
  } finally {
    await handle.close();
  }
}

function parseHeader(
  file: string,
  text: string,
  start: number,
  size: number,
): Map<string, TensorEntry> {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    fail(file, "its header is not JSON");
  }
  if (typeof header !== "object" || header === null || Array.isArray(header))
    fail(file, "its header is not a JSON object");
  const entries = new Map<string, TensorEntry>();
  for (const [name, value] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets: range } = (value ?? {}) as Partial<Record<string, unknown>>;
    if (typeof dtype !== "string" || !Object.hasOwn(bytesPerElement, dtype))
      fail(file, `tensor "${name}" has type ${String(dtype)}; F32, F16 and BF16 can be read`);
    if (!isCounts(shape) || !isCounts(range) || range.length !== 2)
      fail(file, `tensor "${name}" has no shape or no place that is made of whole numbers`);
    const stored = dtype as StoredType;
    const length = shape.reduce((product, dim) => product * dim, 1) * bytesPerElement[stored];
    if (range[1]! - range[0]! !== length || start + range[1]! > size)
      fail(file, `tensor "${name}" does not fit`);
    entries.set(name, { dtype: stored, shape, offset: start + range[0]!, length });
  }
  return entries;
}

function isCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

/** Reads every tensor as 32-bit floats. @throws ModelError */
export async function readSafetensors(file: string): Promise<Map<string, NamedTensor>> {
  const entries = await readHeader(file);
  const bytes = await readFile(file);
  const tensors = new Map<string, NamedTensor>();
  for (const [name, entry] of entries) {
    tensors.set(name, {
      shape: entry.shape,
      data: decodeTensor(bytes.subarray(entry.offset, entry.offset + entry.length), entry.dtype),
    });
  }
  return tensors;
}

/** Raw bytes of one tensor as 32-bit floats. */
export function decodeTensor(bytes: Uint8Array, dtype: StoredType): Float32Array {
  if (dtype === "F32") {
    const result = new Float32Array(bytes.length / 4);
    new Uint8Array(result.buffer).set(bytes);
    return result;
  }
  const halves = new Uint16Array(bytes.length / 2);
  new Uint8Array(halves.buffer).set(bytes);
  return dtype === "BF16" ? fromBfloat16(halves) : fromHalf(halves);
}

export interface HeaderEntry {
  readonly name: string;
  readonly dtype: StoredType;
  readonly shape: readonly number[];
}

/** A file's header, and the position of each tensor's bytes. */
export function safetensorsHeader(
  entries: readonly HeaderEntry[],
  metadata: Readonly<Record<string, string>> = {},
): {
  readonly bytes: Uint8Array;
  readonly offsets: ReadonlyMap<string, number>;
  readonly size: number;
} {
  const header: Record<string, unknown> = { __metadata__: { format: "pt", ...metadata } };
  const ranges = new Map<string, number>();
  let end = 0;
  for (const { name, dtype, shape } of entries) {
    const start = end;
    end += shape.reduce((product, dim) => product * dim, 1) * bytesPerElement[dtype];
    header[name] = { dtype, shape, data_offsets: [start, end] };
    ranges.set(name, start);
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  // Padded with spaces to 8 bytes, so that tensors can be mapped into memory in place.
  const start = 8 + Math.ceil(json.length / 8) * 8;
  const bytes = new Uint8Array(start).fill(0x20, 8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(start - 8), true);
  bytes.set(json, 8);
  const offsets = new Map(Array.from(ranges, ([name, offset]) => [name, start + offset]));
  return { bytes, offsets, size: start + end };
}

/** Numbers, or the bits of bfloat16 numbers, which are stored unchanged. */
export interface StorableTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | Uint16Array;
}

/** The bytes of a file that holds `tensors`, in their order. */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, StorableTensor>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const entries = Array.from(tensors, ([name, { shape, data }]): HeaderEntry => ({
    name,
    dtype: data instanceof Float32Array ? "F32" : "BF16",
    shape,
  }));
  const header = safetensorsHeader(entries, metadata);
  const bytes = new Uint8Array(header.size);
  bytes.set(header.bytes);
  for (const [name, { data }] of tensors) {
    const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    bytes.set(raw, header.offsets.get(name));
  }
  return bytes;
}
