/** Sixteen-bit floats to 32 bits and back: IEEE 754 half precision and bfloat16. */

let halves: Float32Array | undefined;

/** Every half-precision number by its bits: a lookup is much faster than decoding. */
export function halfTable(): Float32Array {
  halves ??= Float32Array.from({ length: 65_536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
  return halves;
}

/** The half-precision number in the two bytes at `at`. */
export function halfAt(bytes: Uint8Array, at: number): number {
  return halfTable()[(bytes[at] as number) | ((bytes[at + 1] as number) << 8)] as number;
}

export function fromHalf(source: Uint16Array): Float32Array {
  const table = halfTable();
  const result = new Float32Array(source.length);
  for (let i = 0; i < source.length; i++) result[i] = table[source[i] as number] as number;
  return result;
}

export function fromBfloat16(source: Uint16Array): Float32Array {
  const bits = new Uint32Array(source.length);
  for (let i = 0; i < source.length; i++) bits[i] = (source[i] as number) << 16;
  return new Float32Array(bits.buffer);
}

/** The bits of `source`, without a copy where its alignment in memory allows. */
function bitsOf(source: Float32Array): Uint32Array {
  return new Uint32Array(source.buffer, source.byteOffset, source.length);
}

/** Drops the lowest `count` bits, rounding to nearest, ties to even. */
function roundBits(bits: number, count: number): number {
  const half = 2 ** (count - 1);
  return Math.floor((bits + half - 1 + (Math.floor(bits / 2 ** count) & 1)) / 2 ** count);
}

/** Rounds to nearest; values that are too large become infinite. */
export function toHalf(source: Float32Array): Uint16Array {
  const bits = bitsOf(source);
  const result = new Uint16Array(source.length);
  for (let i = 0; i < bits.length; i++) {
    const value = bits[i] as number;
    const sign = (value >>> 16) & 0x8000;
    const magnitude = value & 0x7fff_ffff;
    if (magnitude > 0x7f80_0000) result[i] = sign | 0x7e00;
    // 65520 is halfway between the largest number and the next one that would follow.
    else if (magnitude >= 0x477f_f000) result[i] = sign | 0x7c00;
    else if (magnitude >= 0x3880_0000) result[i] = sign | roundBits(magnitude - 0x3800_0000, 13);
    else result[i] = sign | toSubnormal(magnitude);
  }
  return result;
}

/** Multiples of 2^-24, for numbers below 2^-14. */
function toSubnormal(magnitude: number): number {
  const exponent = magnitude >>> 23;
  // Below half of the smallest number.
  if (exponent < 102) return 0;
  return roundBits((magnitude & 0x7f_ffff) | 0x80_0000, 126 - exponent);
}

/** Rounds to nearest. */
export function toBfloat16(source: Float32Array): Uint16Array {
  const bits = bitsOf(source);
  const result = new Uint16Array(source.length);
  for (let i = 0; i < bits.length; i++) {
    const value = bits[i] as number;
    const isNaN = (value & 0x7fff_ffff) > 0x7f80_0000;
    result[i] = isNaN ? (value >>> 16) | 0x40 : roundBits(value, 16);
  }
  return result;
}
