/** The formats that the matrices of a GGUF file are written in. */
import { encodeNumbers, formatFacts, numberFormats, type NumberFormat } from "../number-format.ts";
import { toHalf } from "../half-floats.ts";

/**
 * Q8_0, ggml's 8-bit format: blocks of 32 numbers, each a scale in half precision and signed bytes.
 * Formulas as in ggml, so that the bytes are those of llama.cpp's converter.
 */
const q8Block = { elements: 32, bytes: 34 } as const;
const largest = 127;
/** Relative to the largest element of a row: far below a step, and above what 32 bits lose. */
const tolerance = 1e-6;

/**
 * Rounds `values`, rows of `columns` (a multiple of 32) numbers. Rows that were rounded to 8 bits before, with one
 * scale each, keep their integers: their blocks share the scale, which only half precision changes.
 */
export function encodeQ8(values: Float32Array, columns: number): Uint8Array {
  const blocks = values.length / q8Block.elements;
  const out = new Int8Array(blocks * q8Block.bytes);
  const scales = new Float32Array(blocks);
  for (let row = 0; row < values.length; row += columns) {
    const shared = rowScale(values.subarray(row, row + columns));
    for (let from = row; from < row + columns; from += q8Block.elements) {
      const block = from / q8Block.elements;
      const numbers = values.subarray(from, from + q8Block.elements);
      const scale = shared ?? scaleOf(numbers);
      scales[block] = scale;
      roundBlock(numbers, scale, out, block * q8Block.bytes + 2);
    }
  }
  const view = new DataView(out.buffer);
  for (const [block, half] of toHalf(scales).entries())
    view.setUint16(block * q8Block.bytes, half, true);
  return new Uint8Array(out.buffer);
}

function scaleOf(numbers: Float32Array): number {
  let peak = 0;
  for (const number of numbers) peak = Math.max(peak, Math.abs(number));
  return Math.fround(peak / largest);
}

/** The scale of which all numbers of a row are multiples; null for a row that has none. */
function rowScale(row: Float32Array): number | null {
  const scale = scaleOf(row);
  if (scale === 0) return null;
  const most = tolerance * largest * scale;
  const isOnGrid = row.every((number) => {
    return Math.abs(number - Math.round(number / scale) * scale) <= most;
  });
  return isOnGrid ? scale : null;
}

/** To the nearest; halves away from zero. */
function roundBlock(numbers: Float32Array, scale: number, out: Int8Array, at: number): void {
  if (scale === 0) return;
  const inverse = Math.fround(1 / scale);
  for (let i = 0; i < numbers.length; i++) {
    const scaled = Math.fround(numbers[i]! * inverse);
    out[at + i] = Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
  }
}

export type GgufFormat = NumberFormat | "q8_0";
export const ggufFormats: readonly GgufFormat[] = [...numberFormats, "q8_0"];

/** ggml's number of a tensor type, and of a file of mostly that type. */
export const typeNumbers: Readonly<Record<GgufFormat, { tensor: number; file: number }>> = {
  f32: { tensor: 0, file: 0 },
  f16: { tensor: 1, file: 1 },
  bf16: { tensor: 30, file: 32 },
  q8_0: { tensor: 8, file: 7 },
};

/** Vectors are few, and llama.cpp computes with them in 32 bits; a block of Q8_0 must end with its row. */
export function tensorFormat(shape: readonly number[], format: GgufFormat): GgufFormat {
  if (shape.length === 1) return "f32";
  return format === "q8_0" && shape.at(-1)! % q8Block.elements !== 0 ? "f16" : format;
}

export function tensorBytes(shape: readonly number[], format: GgufFormat): number {
  const elements = shape.reduce((product, dim) => product * dim, 1);
  return format === "q8_0"
    ? (elements / q8Block.elements) * q8Block.bytes
    : elements * formatFacts[format].bytes;
}

export function encodeTensor(
  data: Float32Array,
  shape: readonly number[],
  format: GgufFormat,
): Uint8Array {
  return format === "q8_0" ? encodeQ8(data, shape.at(-1)!) : encodeNumbers(data, format);
}
