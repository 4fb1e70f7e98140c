/** Append-only files of one JSON value per line, that can be cut back to what a predicate keeps. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";

/** Typed arrays become arrays of numbers: JSON has no other form for token ids. */
function plain(_key: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
    ? Array.from(value as unknown as ArrayLike<number>)
    : value;
}

/** One line, its line feed included. */
export function toLine(value: unknown): string {
  return `${JSON.stringify(value, plain)}\n`;
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
  const file = openSync(path, "a");
  let isOpen = true;
  return {
    write(value) {
      writeSync(file, toLine(value));
    },
    sync() {
      fsyncSync(file);
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      fsyncSync(file);
      closeSync(file);
    },
  };
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
  writeFileSync(aside, kept.map((line) => `${line}\n`).join(""), { flush: true });
  renameSync(aside, path);
}
