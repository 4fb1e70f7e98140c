/** Reads JSON files (uses node:fs). */
import { readFile } from "node:fs/promises";

/** @throws Error whose message is the file and what is wrong with it. */
export async function readJsonFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${file} cannot be read: ${reason}`, { cause });
  }
}
