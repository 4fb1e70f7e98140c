/** Append-only files of one JSON value per line, that can be cut back to what a predicate keeps. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { fileError, namingFile } from "../core/file-error.ts";

/** Stands for an array until its numbers are put in; no text of a user holds it. */
const placeholder = randomUUID();
const placeholders = new RegExp(`"${placeholder}:(\\d+)"`, "gu");

/** `[1,2]`; several times as fast as through `JSON.stringify`, which is most of what a line costs. */
function numbers(values: ArrayLike<number>): string {
  const text = `[${Array.prototype.join.call(values, ",")}]`;
  // JSON has no word for NaN and Infinity.
  return /[NI]/u.test(text) ? JSON.stringify(Array.from(values)) : text;
}

/** One line, its line feed included. Typed arrays become arrays of numbers. */
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
  /** Resolves what has been written to the disk itself. */
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
        // Not writeSync, which may write a part without a word.
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

/** A full disk may have taken a part of a line, which the next one must not continue. */
function takeBack(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // A device has no size.
  }
}

/** Keeps the lines that `keep` accepts; a line that a kill cut short goes too. */
export function cutLines(path: string, keep: (value: Record<string, unknown>) => boolean): void {
  if (!existsSync(path)) return;
  const kept = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => {
      if (line === "") return false;
      try {
        return keep(JSON.parse(line) as Record<string, unknown>);
      } catch {
        return false;
      }
    });
  const aside = `${path}.tmp`;
  namingFile({ path: aside }, () => {
    writeFileSync(aside, kept.map((line) => `${line}\n`).join(""), { flush: true });
    renameSync(aside, path);
  });
}
