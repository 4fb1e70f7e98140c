/** Reads a text file of the user: UTF-8 with or without a byte-order mark, or UTF-16 with one, as Windows writes them. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";
import { checkDataFile, checkWholeFile } from "./json-lines-file.ts";

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return "utf-8";
}

/** Whether the file starts with a UTF-16 byte-order mark. @throws ConfigError if it is not a regular file. */
export function isUtf16(file: string): boolean {
  checkDataFile(file);
  const handle = openSync(file, "r");
  try {
    const start = Buffer.alloc(2);
    readSync(handle, start);
    return encodingOf(start) !== "utf-8";
  } finally {
    closeSync(handle);
  }
}

/** @throws ConfigError if the file is not such text, or exceeds the maximum string length. */
export function readText(file: string): string {
  checkWholeFile(file);
  const bytes = readFileSync(file);
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ConfigError({
      message: `${file} is not ${encoding.toUpperCase()} text.`,
      hint: "Save it as UTF-8.",
      cause: error,
      fields: { file, encoding },
    });
  }
}
