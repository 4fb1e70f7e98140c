/** Token ids as bytes: seven bits a byte, so that most ids of large vocabularies take two or three. */

/** `ids` from `start` on. */
export function packIds(ids: Int32Array, start = 0): Buffer {
  // An id takes five bytes at most.
  const bytes = Buffer.allocUnsafe((ids.length - start) * 5);
  let at = 0;
  for (let i = start; i < ids.length; i++) {
    let rest = (ids[i] as number) >>> 0;
    while (rest > 0x7f) {
      bytes[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[at++] = rest;
  }
  return bytes.subarray(0, at);
}

/** How many ids there are. */
export function countIds(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte < 0x80) count++;
  return count;
}

/** Writes the ids to `out` from `offset` on. */
export function unpackIds(bytes: Uint8Array, out: Int32Array, offset: number): void {
  let index = offset;
  let shift = 0;
  let value = 0;
  for (const byte of bytes) {
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      out[index++] = value;
      value = 0;
      shift = 0;
    } else shift += 7;
  }
}
