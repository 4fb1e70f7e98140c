/**
 * Q8_0, ggml's 8-bit format: blocks of 32 numbers, each a scale in half precision and signed bytes.
 * Formulas as in ggml, so that the bytes are those of llama.cpp's converter.
 */
import { toHalf } from "../half-floats.ts";

export const q8Block = { elements: 32, bytes: 34 } as const;
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
