/**
 * ggml's "K" types: superblocks of 256 elements whose small blocks have scales of 6 or 8 bits that share
 * a half-precision scale. Layouts as in ggml's `block_q4_K`, `block_q5_K` and `block_q6_K`.
 */
import { halfAt } from "../half-floats.ts";

/** Eight scales and eight minimums of 6 bits each, packed into 12 bytes. */
function unpackScales(bytes: Uint8Array, at: number, scales: Uint8Array, mins: Uint8Array): void {
  for (let i = 0; i < 4; i++) {
    const a = bytes[at + i] as number;
    const b = bytes[at + 4 + i] as number;
    const c = bytes[at + 8 + i] as number;
    scales[i] = a & 63;
    mins[i] = b & 63;
    scales[i + 4] = (c & 15) | ((a >> 6) << 4);
    mins[i + 4] = (c >> 4) | ((b >> 6) << 4);
  }
}

/** Scale and minimum for every 32 elements; low nibbles are the first 32 of each 64. */
function decodeWithMinimum(size: number, nibblesAt: number, fifthAt: number | null) {
  return (bytes: Uint8Array, out: Float32Array): void => {
    const scales = new Uint8Array(8);
    const mins = new Uint8Array(8);
    for (let at = 0, to = 0; at < bytes.length; at += size, to += 256) {
      const scale = halfAt(bytes, at);
      const minimum = halfAt(bytes, at + 2);
      unpackScales(bytes, at + 4, scales, mins);
      for (let block = 0; block < 8; block++) {
        const d = Math.fround(scale * (scales[block] as number));
        const m = Math.fround(minimum * (mins[block] as number));
        const from = at + nibblesAt + (block >> 1) * 32;
        const shift = (block & 1) * 4;
        for (let i = 0; i < 32; i++) {
          let quant = ((bytes[from + i] as number) >> shift) & 15;
          if (fifthAt !== null) quant |= (((bytes[at + fifthAt + i] as number) >> block) & 1) << 4;
          out[to + block * 32 + i] = Math.fround(d * quant) - m;
        }
      }
    }
  };
}

export const decodeQ4K: (bytes: Uint8Array, out: Float32Array) => void = decodeWithMinimum(
  144,
  16,
  null,
);
export const decodeQ5K: (bytes: Uint8Array, out: Float32Array) => void = decodeWithMinimum(
  176,
  48,
  16,
);

/** Sixteen signed scales for 16 elements each; four low bits apart from two high ones. */
export function decodeQ6K(bytes: Uint8Array, out: Float32Array): void {
  const signed = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0, to = 0; at < bytes.length; at += 210, to += 256) {
    const scale = halfAt(bytes, at + 208);
    for (let i = 0; i < 256; i++) {
      // Each half of 128: quarters of 32 take low nibbles, then high ones, of 64 bytes.
      const inHalf = i & 127;
      const quarter = inHalf >> 5;
      const low = bytes[at + (i >> 7) * 64 + (inHalf & 63)] as number;
      const high = bytes[at + 128 + (i >> 7) * 32 + (i & 31)] as number;
      const nibble = quarter < 2 ? low & 15 : low >> 4;
      const quant = (nibble | (((high >> (quarter * 2)) & 3) << 4)) - 32;
      out[to + i] = Math.fround(scale * (signed[at + 192 + (i >> 4)] as number)) * quant;
    }
  }
}
