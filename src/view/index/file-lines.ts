/** Complete lines of a growing file from a byte offset on. */
import { createHash } from "node:crypto";
import { readSync } from "node:fs";

const lineFeed = 0x0a;
const chunkBytes = 2 ** 20;
/** Just below Node's maximum string length. */
export const longestLine: number = 2 ** 29 - 2 ** 20;

export interface FileLine {
  readonly at: number;
  /** Without the line feed. */
  readonly bytes: number;
  /** Null for a line that does not fit into a string. */
  readonly text: string | null;
}

/** Lines that end in a line feed; a last one without it is still being written. */
export function* linesFrom(handle: number, from: number): Generator<FileLine> {
  let [at, position, length] = [from, from, 0];
  let pieces: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const read = readSync(handle, chunk, 0, chunkBytes, position);
    if (read === 0) return;
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(lineFeed, start);
      if (end < 0 || end >= read) break;
      length += end - start;
      pieces.push(chunk.subarray(start, end));
      const isLong = length > longestLine;
      yield { at, bytes: length, text: isLong ? null : Buffer.concat(pieces).toString("utf8") };
      at += length + 1;
      [pieces, length] = [[], 0];
      start = end + 1;
    }
    length += read - start;
    // Of a line that is too long, only the length matters.
    if (length <= longestLine) pieces.push(chunk.subarray(start, read));
    else pieces = [];
    position += read;
  }
}

const markBytes = 4096;

/** Hash of the first bytes and of the last ones before `until`: another one means another file. */
export function fileMark(handle: number, until: number): string {
  const hash = createHash("sha256");
  const buffer = Buffer.alloc(markBytes);
  for (const start of [0, Math.max(0, until - markBytes)]) {
    const read = readSync(handle, buffer, 0, Math.min(markBytes, until - start), start);
    hash.update(buffer.subarray(0, read));
  }
  return hash.digest("base64");
}
