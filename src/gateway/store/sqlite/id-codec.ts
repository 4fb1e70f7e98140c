/**
 * Token ids as bytes. The first byte says how the rest was packed: 0 for seven bits a byte, which is best
 * where small ids are frequent; else the bits that every id takes, which is best where they are not.
 */

const varint = 0;
/** Below, seven bits a byte are as good; and less than a byte of padding is less than an id. */
const minWidth = 9;

function varintBytes(id: number): number {
  if (id >>> 7 === 0) return 1;
  if (id >>> 14 === 0) return 2;
  if (id >>> 21 === 0) return 3;
  return id >>> 28 === 0 ? 4 : 5;
}

function packVarint(ids: Int32Array, start: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(1 + size);
  bytes[0] = varint;
  let at = 1;
  for (let i = start; i < ids.length; i++) {
    let rest = (ids[i] as number) >>> 0;
    while (rest > 0x7f) {
      bytes[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[at++] = rest;
  }
  return bytes;
}

function packFixed(ids: Int32Array, start: number, width: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(1 + size);
  bytes[0] = width;
  let at = 1;
  // Bits that wait for their byte: fewer than 8, so that 24 more fit next to them.
  let pending = 0;
  let count = 0;
  for (let i = start; i < ids.length; i++) {
    pending |= (ids[i] as number) << count;
    count += width;
    while (count >= 8) {
      bytes[at++] = pending & 0xff;
      pending >>>= 8;
      count -= 8;
    }
  }
  if (count > 0) bytes[at] = pending;
  return bytes;
}

/** More would not fit next to the bits that wait. */
const maxWidth = 24;

/** `ids` from `start` on. */
export function packIds(ids: Int32Array, start = 0): Buffer {
  let all = 0;
  let size = 0;
  for (let i = start; i < ids.length; i++) {
    const id = ids[i] as number;
    all |= id;
    size += varintBytes(id);
  }
  const width = 32 - Math.clz32(all);
  const fixedSize = Math.ceil(((ids.length - start) * width) / 8);
  const isFixed = width >= minWidth && width <= maxWidth && fixedSize < size;
  return isFixed ? packFixed(ids, start, width, fixedSize) : packVarint(ids, start, size);
}

/** How many ids there are. */
export function countIds(bytes: Uint8Array): number {
  const width = bytes[0] ?? varint;
  if (width !== varint) return Math.floor(((bytes.length - 1) * 8) / width);
  let count = 0;
  for (let i = 1; i < bytes.length; i++) if ((bytes[i] as number) < 0x80) count++;
  return count;
}

/** Writes the ids to `out` from `offset` on. */
export function unpackIds(bytes: Uint8Array, out: Int32Array, offset: number): void {
  const width = bytes[0] ?? varint;
  if (width === varint) unpackVarint(bytes, out, offset);
  else unpackFixed(bytes, width, out, offset);
}

function unpackVarint(bytes: Uint8Array, out: Int32Array, offset: number): void {
  let index = offset;
  let shift = 0;
  let value = 0;
  for (let at = 1; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      out[index++] = value;
      value = 0;
      shift = 0;
    } else shift += 7;
  }
}

function unpackFixed(bytes: Uint8Array, width: number, out: Int32Array, offset: number): void {
  const mask = 2 ** width - 1;
  const end = offset + countIds(bytes);
  let at = 1;
  let pending = 0;
  let count = 0;
  for (let index = offset; index < end; index++) {
    // At most 23 bits wait here, so that a byte more makes 31.
    while (count < width) {
      pending |= (bytes[at++] as number) << count;
      count += 8;
    }
    out[index] = pending & mask;
    pending >>>= width;
    count -= width;
  }
}
