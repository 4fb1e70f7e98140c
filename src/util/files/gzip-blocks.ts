/**
 * Files of gzip members that begin with their size, so that one is read without those before it. `gzip -d` and
 * `zcat` read them like any other: the size is an extra field (RFC 1952, 2.3.1.1).
 */
import { fstatSync, readSync } from "node:fs";
import { promisify } from "node:util";
import { crc32, deflateRaw, deflateRawSync, gunzipSync } from "node:zlib";

/** Level 3 packed recorded episodes as small as level 6, and in three quarters of the time. */
const options = { level: 3 } as const;
const deflate = promisify(deflateRaw);

/** Magic, deflate, an extra field; no time, no system; 8 bytes of extra: "AT", its length, the member's size. */
const head = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 8, 0, 0x41, 0x54, 4, 0]);
const headBytes = head.length + 4;
const tailBytes = 8;

function member(content: Uint8Array, packed: Uint8Array): Buffer {
  const size = headBytes + packed.length + tailBytes;
  const bytes = Buffer.allocUnsafe(size);
  bytes.set(head);
  bytes.writeUInt32LE(size, head.length);
  bytes.set(packed, headBytes);
  bytes.writeUInt32LE(crc32(content), size - tailBytes);
  bytes.writeUInt32LE(content.length, size - 4);
  return bytes;
}

/** One member, of at most 4 GB. */
export const gzipBlockSync = (content: Uint8Array): Buffer =>
  member(content, deflateRawSync(content, options));

/** As `gzipBlockSync`, packed by a thread of Node's pool. */
export const gzipBlock = async (content: Uint8Array): Promise<Buffer> =>
  member(content, await deflate(content, options));

export interface GzipBlock {
  readonly at: number;
  /** In the file. */
  readonly bytes: number;
  /** Null where it is damaged, or unpacks to too much: 64 MiB, or 100 times its size up to 1 GiB. */
  readonly content: Buffer | null;
}

function read(handle: number, at: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  let length = 0;
  while (length < bytes) {
    const part = readSync(handle, buffer, length, bytes - length, at + length);
    if (part === 0) break;
    length += part;
  }
  return buffer.subarray(0, length);
}

/** What a member may unpack to: some kB can hold gigabytes. Records pack to between a third and a thirtieth. */
const maxUnpacked = ({ length }: Buffer): number =>
  Math.min(2 ** 30, Math.max(64 * 2 ** 20, 100 * length));

function unpack(bytes: Buffer): Buffer | null {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxUnpacked(bytes) });
  } catch {
    return null;
  }
}

/** Null where no member that begins with its size is at this place. */
function sizeAt(handle: number, at: number): number | null {
  const begin = read(handle, at, headBytes);
  if (begin.length < headBytes || !begin.subarray(0, head.length).equals(head)) return null;
  return begin.readUInt32LE(head.length);
}

/** The member at `at`; null where none is there, or it has no content. */
export function readGzipBlock(handle: number, at: number): Buffer | null {
  const size = sizeAt(handle, at) ?? fstatSync(handle).size - at;
  return size <= 0 ? null : unpack(read(handle, at, size));
}

/**
 * Members from `from` on that are complete: a last one that a kill cut short, or that is being written, is
 * skipped. A file that another program packed is one member, without the size.
 */
export function* gzipBlocks(handle: number, from = 0): Generator<GzipBlock> {
  for (let at = from; ;) {
    const end = fstatSync(handle).size;
    if (at >= end) return;
    const size = sizeAt(handle, at);
    if (size === null && end - at < headBytes) return;
    const bytes = size ?? end - at;
    if (bytes < headBytes || at + bytes > end) return;
    yield { at, bytes, content: unpack(read(handle, at, bytes)) };
    at += bytes;
  }
}
