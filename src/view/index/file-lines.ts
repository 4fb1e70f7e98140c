/** Complete lines of a growing file from a byte offset on, also of one of gzip members. */
import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { gzipBlocks, readGzipBlock } from "../../util/files/gzip-blocks.ts";

const lineFeed = 0x0a;
const chunkBytes = 2 ** 20;
/** Just below Node's maximum string length. */
const longestLine: number = 2 ** 29 - 2 ** 20;

/** Where a line is. */
export interface LinePlace {
  /** Of the line, or of its member. */
  readonly at: number;
  /** Where it begins in the member; null in a file that is not packed. */
  readonly inside: number | null;
  /** Without the line feed. */
  readonly bytes: number;
}

export interface FileLine extends LinePlace {
  /** Null for a line that does not fit into a string. */
  readonly text: string | null;
  /** Where the next line is; null where that is in the same member. */
  readonly next: number | null;
}

/** Lines that end in a line feed; a last one without it is still being written. */
function* linesFrom(handle: number, from: number): Generator<FileLine> {
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
      const text = isLong ? null : Buffer.concat(pieces).toString("utf8");
      const next = at + length + 1;
      yield { at, inside: null, bytes: length, text, next };
      at = next;
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

/** Lines of gzip members; a damaged member is one line without a text. */
function* packedLinesFrom(handle: number, from: number): Generator<FileLine> {
  for (const { at, bytes: packed, content } of gzipBlocks(handle, from)) {
    const next = at + packed;
    if (content === null) yield { at, inside: 0, bytes: packed, text: null, next };
    else
      for (let inside = 0; inside < content.length;) {
        const found = content.indexOf(lineFeed, inside);
        const end = found < 0 ? content.length : found;
        const bytes = end - inside;
        const text = bytes > longestLine ? null : content.toString("utf8", inside, end);
        yield { at, inside, bytes, text, next: end + 1 < content.length ? null : next };
        inside = end + 1;
      }
  }
}

const isPacked = (path: string): boolean => path.endsWith(".gz");

/** Lines of a file that is packed if its name says so. */
export const recordLines = (path: string, handle: number, from = 0): Generator<FileLine> =>
  isPacked(path) ? packedLinesFrom(handle, from) : linesFrom(handle, from);

/** One line again; null where it is not there. */
export function readLineAt(path: string, { at, inside, bytes }: LinePlace): string | null {
  if (bytes > longestLine) return null;
  const handle = openSync(path, "r");
  try {
    if (inside !== null)
      return readGzipBlock(handle, at)?.toString("utf8", inside, inside + bytes) ?? null;
    const buffer = Buffer.alloc(bytes);
    readSync(handle, buffer, 0, bytes, at);
    return buffer.toString("utf8");
  } finally {
    closeSync(handle);
  }
}

/** The first line that begins like this, in the first of these files that exists and has one; the rest is not parsed. */
export function findLine(paths: readonly string[], begin: string): string | null {
  for (const path of paths.filter((one) => existsSync(one))) {
    const handle = openSync(path, "r");
    try {
      for (const { text } of recordLines(path, handle))
        if (text?.startsWith(begin) === true) return text;
    } finally {
      closeSync(handle);
    }
  }
  return null;
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
