/** Reads the lines of a JSON Lines file of any size one at a time: the whole file need not fit into a string. */
import { closeSync, openSync, readSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";
import { checkFileSync } from "../../util/files/regular-file.ts";

const chunkBytes = 2 ** 20;
/** Just below Node's maximum string length. */
const longestLine = 2 ** 29 - 2 ** 20;

export interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/** A line of a file that can be read again from its place. */
export interface PlacedLine extends Line {
  /** Where it begins in the file, and how many bytes it has without its ending. */
  readonly at: number;
  readonly bytes: number;
}

const newline = 0x0a;

/**
 * Lines without line endings and byte-order mark.
 * @param isStrict whether a line that is not UTF-8 is refused. @default true
 * @throws ConfigError if it is not a file, or a line exceeds the maximum string length.
 */
export function* readLines(file: string, isStrict = true): Generator<PlacedLine> {
  checkDataFile(file);
  const handle = openSync(file, "r");
  try {
    let number = 1;
    let pieces: Buffer[] = [];
    let length = 0;
    let begin = 0;
    const take = (): PlacedLine => {
      const bytes = Buffer.concat(pieces);
      const text = decode(bytes, `${file}:${number}`, isStrict).replace(/\r$/u, "");
      const at = begin;
      begin += bytes.length + 1;
      [pieces, length] = [[], 0];
      return { text, number: number++, at, bytes: bytes.length };
    };
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const read = readSync(handle, chunk);
      if (read === 0) break;
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0 && end < read;) {
        pieces.push(chunk.subarray(start, end));
        yield take();
        start = end + 1;
        end = chunk.indexOf(newline, start);
      }
      pieces.push(chunk.subarray(start, read));
      length += read - start;
      if (length > longestLine) throw tooLong(`${file}:${number}`, "line", length);
    }
    if (length > 0) yield take();
  } finally {
    closeSync(handle);
  }
}

/** Without a byte-order mark. */
function decode(bytes: Buffer, at: string, isStrict: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: isStrict }).decode(bytes);
  } catch (cause) {
    throw new ConfigError({
      message: `${at} is not UTF-8 text.`,
      hint: "Save the file as UTF-8.",
      cause,
      fields: { at },
    });
  }
}

function tooLong(at: string, what: string, bytes: number): ConfigError {
  return new ConfigError({
    message: `${at}: this ${what} is larger than ${Math.floor(longestLine / 2 ** 20)} MiB, the maximum size of a string.`,
    hint: "Write one task per line to a .jsonl file, which may be of any size.",
    fields: { at, bytes },
  });
}

/** @throws ConfigError if it is not a regular file. */
export function checkDataFile(file: string): number {
  try {
    return checkFileSync(file);
  } catch (cause) {
    const { message } = cause as Error;
    throw new ConfigError({
      message: `The dataset cannot be read: ${message}.`,
      cause,
      fields: { file },
    });
  }
}

/** For a file that is read as a whole. @throws ConfigError if it is too large. */
export function checkWholeFile(file: string): void {
  const bytes = checkDataFile(file);
  if (bytes > longestLine) throw tooLong(file, "file", bytes);
}
