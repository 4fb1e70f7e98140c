/** Reads JSON files (uses node:fs). */
import { readFile } from "node:fs/promises";
import { checkFile } from "./regular-file.ts";
import { isJsonObject } from "../json-object.ts";

/** Tokenizers with large vocabularies have about ten. */
const maxBytes = 256 * 2 ** 20;

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

/**
 * A file that holds an object, as all JSON files read here do.
 * @throws Error whose message is the file and what is wrong with it.
 */
export async function readJsonFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const size = await checkFile(file);
    if (size > maxBytes) throw new Error(`it has ${size} bytes, but ${maxBytes} is the limit`);
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    if (isJsonObject(value)) return value;
    throw new Error(`it must hold an object, but holds ${kindOf(value)}`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${file} cannot be read: ${reason}`, { cause });
  }
}
