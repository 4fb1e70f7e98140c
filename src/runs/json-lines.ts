/** Append-only files of one JSON value per line, which can be truncated to what a predicate keeps. */
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { fileError, namingFile } from "../core/file-error.ts";
import { writeFileAtomicSync } from "../util/files/atomic-write.ts";

/** Placeholder for an array until its numbers are inserted; no string of a user contains it. */
const placeholder = randomUUID();
const placeholders = new RegExp(`"${placeholder}:(\\d+)"`, "gu");

/** `[1,2]`; several times as fast as `JSON.stringify`, which is most of the cost of a line. */
function numbers(values: ArrayLike<number>): string {
  const text = `[${Array.prototype.join.call(values, ",")}]`;
  // JSON has no NaN and Infinity.
  return /[NI]/u.test(text) ? JSON.stringify(Array.from(values)) : text;
}

/** One line, including its line feed. Typed arrays become arrays of numbers. */
export function toLine(value: unknown): string {
  const arrays: string[] = [];
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (!ArrayBuffer.isView(part) || part instanceof DataView) return part;
    return `${placeholder}:${arrays.push(numbers(part as unknown as ArrayLike<number>)) - 1}`;
  });
  return `${text.replaceAll(placeholders, (_match, index: string) => arrays[Number(index)] ?? "")}\n`;
}

/** An open file of lines. */
export interface LineWriter {
  write(value: unknown): void;
  /** Flushes what has been written to the disk itself. */
  sync(): void;
  close(): void;
}

/** Opens a file for appending. */
export function appendLines(path: string): LineWriter {
  const naming = { path };
  const file = namingFile(naming, () => openSync(path, "a"));
  let isOpen = true;
  return {
    write(value) {
      const { size } = fstatSync(file);
      try {
        // Not writeSync, which may silently write only a part.
        writeFileSync(file, toLine(value));
      } catch (error) {
        takeBack(file, size);
        throw fileError(error, naming) ?? error;
      }
    },
    sync() {
      namingFile(naming, () => fsyncSync(file));
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      try {
        namingFile(naming, () => fsyncSync(file));
      } finally {
        closeSync(file);
      }
    },
  };
}

/** A full disk may have taken part of a line, which the next one must not continue. */
function takeBack(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // A device has no size.
  }
}

/** A line that cannot be read. */
export interface DamagedLine {
  /** From 1, as it was before the file was truncated. */
  readonly line: number;
  /** File that it was moved to. */
  readonly temporary: string;
}

const lineFeed = 0x0a;
const newLine = Buffer.of(lineFeed);

/** The file's lines as bytes; `isWhole` is false for a last one that has no line feed. */
function* linesOf(bytes: Buffer): Generator<{ readonly line: Buffer; readonly isWhole: boolean }> {
  let from = 0;
  while (from < bytes.length) {
    const at = bytes.indexOf(lineFeed, from);
    const end = at === -1 ? bytes.length : at;
    yield { line: bytes.subarray(from, end), isWhole: at !== -1 };
    from = end + 1;
  }
}

function parseLine(line: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
    return isMap ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** The lines that `keep` accepts, each with its line feed; without those that cannot be parsed. */
export function keptLines(
  bytes: Buffer,
  keep: (value: Record<string, unknown>) => boolean,
): readonly Buffer[] {
  return Array.from(linesOf(bytes), ({ line }) => line).flatMap((line) => {
    const value = parseLine(line);
    return value !== null && keep(value) ? [line, newLine] : [];
  });
}

/**
 * Keeps the lines that `keep` accepts. Lines that cannot be parsed, or for which `keep` cannot decide
 * (null), are moved to a file next to it and returned. A last line without a line feed was cut short
 * by a kill before anything relied on it, and is removed.
 */
export function cutLines(
  path: string,
  keep: (value: Record<string, unknown>) => boolean | null,
): readonly DamagedLine[] {
  if (!existsSync(path)) return [];
  const kept: Buffer[] = [];
  const damaged: Buffer[] = [];
  const found: DamagedLine[] = [];
  const damagedFile = `${path}.damaged`;
  let number = 0;
  for (const { line, isWhole } of linesOf(readFileSync(path))) {
    number++;
    if (line.length === 0) continue;
    const value = parseLine(line);
    if (value === null && !isWhole) continue;
    const isKept = value === null ? null : keep(value);
    if (isKept === true) kept.push(line, newLine);
    if (isKept !== null) continue;
    damaged.push(line, newLine);
    found.push({ line: number, temporary: damagedFile });
  }
  // First, what would be lost otherwise.
  if (damaged.length > 0) {
    namingFile({ path: damagedFile }, () => {
      appendFileSync(damagedFile, Buffer.concat(damaged), { flush: true });
    });
  }
  const temporary = `${path}.tmp`;
  namingFile({ path: temporary }, () => {
    writeFileAtomicSync(path, Buffer.concat(kept), { temporary });
  });
  return found;
}
