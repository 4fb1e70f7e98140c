/** A text file of the user: UTF-8 with or without a byte-order mark, or UTF-16 with one, as Windows writes them. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";
import { checkDataFile, checkWholeFile } from "./json-lines-file.ts";

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return "utf-8";
}

/** Whether it begins with the byte-order mark of UTF-16. @throws ConfigError for what is no file. */
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

/** @throws ConfigError with the file's name when it is no such text, or longer than a string can be. */
export function readText(file: string): string {
  checkWholeFile(file);
  const bytes = readFileSync(file);
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ConfigError({
      message: `${file} is not text in ${encoding.toUpperCase()}.`,
      hint: "Save it as UTF-8.",
      cause: error,
      fields: { file, encoding },
    });
  }
}
