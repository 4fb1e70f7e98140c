/**
 * Tensor types of GGUF files: their blocks, and how a block becomes 32-bit floats. Formulas as in
 * ggml; products are rounded where it rounds them, so that values are bit-identical.
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
import { fromBfloat16, halfAt, halfTable } from "../half-floats.ts";
import { decodeQ4K, decodeQ5K, decodeQ6K } from "./ggml-k-quants.ts";

/** Writes the floats of `bytes`, whole blocks, to `out` from its start. */
type DecodeBlocks = (bytes: Uint8Array, out: Float32Array) => void;

export interface GgmlType {
  readonly name: string;
  /** Elements of a block. */
  readonly elements: number;
  readonly bytes: number;
  readonly decode: DecodeBlocks;
}

/** Aligned copies of raw bytes. */
function copyOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

const decodeF32: DecodeBlocks = (bytes, out) => {
  out.set(new Float32Array(copyOf(bytes)));
};

const decodeF16: DecodeBlocks = (bytes, out) => {
  const table = halfTable();
  const halves = new Uint16Array(copyOf(bytes));
  for (let i = 0; i < halves.length; i++) out[i] = table[halves[i] as number] as number;
};

const decodeBf16: DecodeBlocks = (bytes, out) => {
  out.set(fromBfloat16(new Uint16Array(copyOf(bytes))));
};

const decodeQ80: DecodeBlocks = (bytes, out) => {
  const signed = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0, to = 0; at < bytes.length; at += 34, to += 32) {
    const scale = halfAt(bytes, at);
    for (let i = 0; i < 32; i++) out[to + i] = scale * (signed[at + 2 + i] as number);
  }
};

/**
 * The four types of 32 elements in 4 or 5 bits: a scale, a minimum (`_1`) or none (`_0`, centred), the
 * fifth bits, then nibbles: the low ones are the first half of the block.
 */
function decodeNibbles(hasMinimum: boolean, hasFifthBit: boolean): DecodeBlocks {
  const headBytes = hasMinimum ? 4 : 2;
  const nibblesAt = headBytes + (hasFifthBit ? 4 : 0);
  const size = nibblesAt + 16;
  const centre = hasMinimum ? 0 : hasFifthBit ? 16 : 8;
  return (bytes, out) => {
    for (let at = 0, to = 0; at < bytes.length; at += size, to += 32) {
      const scale = halfAt(bytes, at);
      const minimum = hasMinimum ? halfAt(bytes, at + 2) : -0;
      let fifth = 0;
      if (hasFifthBit) {
        for (let i = 3; i >= 0; i--) fifth = (fifth << 8) | (bytes[at + headBytes + i] as number);
      }
      for (let i = 0; i < 16; i++) {
        const pair = bytes[at + nibblesAt + i] as number;
        const low = (pair & 15) | (((fifth >>> i) & 1) << 4);
        const high = (pair >> 4) | (((fifth >>> (i + 16)) & 1) << 4);
        out[to + i] = Math.fround(scale * (low - centre)) + minimum;
        out[to + i + 16] = Math.fround(scale * (high - centre)) + minimum;
      }
    }
  };
}

/** By type number in the file. */
export const ggmlTypes: ReadonlyMap<number, GgmlType> = new Map<number, GgmlType>([
  [0, { name: "F32", elements: 1, bytes: 4, decode: decodeF32 }],
  [1, { name: "F16", elements: 1, bytes: 2, decode: decodeF16 }],
  [2, { name: "Q4_0", elements: 32, bytes: 18, decode: decodeNibbles(false, false) }],
  [3, { name: "Q4_1", elements: 32, bytes: 20, decode: decodeNibbles(true, false) }],
  [6, { name: "Q5_0", elements: 32, bytes: 22, decode: decodeNibbles(false, true) }],
  [7, { name: "Q5_1", elements: 32, bytes: 24, decode: decodeNibbles(true, true) }],
  [8, { name: "Q8_0", elements: 32, bytes: 34, decode: decodeQ80 }],
  [12, { name: "Q4_K", elements: 256, bytes: 144, decode: decodeQ4K }],
  [13, { name: "Q5_K", elements: 256, bytes: 176, decode: decodeQ5K }],
  [14, { name: "Q6_K", elements: 256, bytes: 210, decode: decodeQ6K }],
  [30, { name: "BF16", elements: 1, bytes: 2, decode: decodeBf16 }],
]);

export const ggmlTypeNames: readonly string[] = [...ggmlTypes.values()].map(({ name }) => name);
