/** Running means that an optimizer keeps for each weight: 32-bit floats, or their upper halves (bfloat16). */
import { fromBfloat16, toBfloat16 } from "../checkpoint/half-floats.ts";

const momentPrecisions = ["float32", "bfloat16"] as const;

/**
 * `bfloat16` takes half of the memory. It is rounded stochastically, up with a probability proportional to
 * the remainder: with rounding to nearest, changes smaller than half a unit in the last of its 8 bits
 * would never accumulate (arXiv:2010.06192).
 */
export type MomentPrecision = (typeof momentPrecisions)[number];

/** Numbers, or the bits of bfloat16 ones. */
export type Moments = Float32Array | Uint16Array;

export function zeroMoments(size: number, precision: MomentPrecision): Moments {
  return precision === "float32" ? new Float32Array(size) : new Uint16Array(size);
}

/** As 32-bit floats: itself, or a copy. */
export function momentValues(moments: Moments): Float32Array {
  return moments instanceof Float32Array ? moments : fromBfloat16(moments);
}

/** Rounds to nearest, so that stored values are restored exactly. */
export function setMoments(moments: Moments, values: Float32Array): void {
  moments.set(moments instanceof Float32Array ? values : toBfloat16(values));
}

/** Fills `into` with the numbers from `start` on. */
export function readBlock(moments: Uint16Array, start: number, into: Float32Array): void {
  const bits = new Uint32Array(into.buffer, into.byteOffset, into.length);
  for (let i = 0; i < bits.length; i++) bits[i] = moments[start + i]! << 16;
}

/** Rounds `from` stochastically into `moments` from `start` on. @param random 32 random bits each time. */
export function writeBlock(
  moments: Uint16Array,
  start: number,
  from: Float32Array,
  random: () => number,
): void {
  const bits = new Uint32Array(from.buffer, from.byteOffset, from.length);
  // Sign and magnitude: adding below the kept bits moves away from 0 for either sign.
  for (let i = 0; i < bits.length; i++)
    moments[start + i] = (bits[i]! + (random() & 0xffff)) >>> 16;
}

/** Marsaglia's xorshift; the same seed gives the same bits. */
export function xorshift(seed: number): () => number {
  let state = (seed | 0) === 0 ? 1 : seed | 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state;
  };
}
