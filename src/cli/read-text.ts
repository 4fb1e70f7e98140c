/** A text file of the user: UTF-8 with or without a byte-order mark, or UTF-16 with one, as Windows writes them. */
import { constants } from "node:buffer";
import { readFileSync } from "node:fs";
import { ConfigError } from "../core/errors.ts";

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return "utf-8";
}

/** @throws ConfigError with the file's name when it is no such text, or longer than a string can be. */
export function readText(file: string): string {
  const bytes = readFileSync(file);
  if (bytes.length > constants.MAX_STRING_LENGTH) {
    throw new ConfigError({
      message: `${file} has ${bytes.length} bytes, more than can be read at once.`,
      hint: "Name a module instead, whose export reads it piece by piece.",
      fields: { file, bytes: bytes.length },
    });
  }
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
