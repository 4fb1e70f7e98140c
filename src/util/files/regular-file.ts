/** Checks that a path is a regular file: reading a pipe, a socket or a device could block forever. */
import { statSync, type Stats } from "node:fs";
import { stat } from "node:fs/promises";

function kindOf(found: Stats): string {
  if (found.isDirectory()) return "a folder";
  if (found.isFIFO()) return "a pipe";
  if (found.isSocket()) return "a socket";
  return "a device";
}

function requireFile(file: string, found: Stats): number {
  if (found.isFile()) return found.size;
  throw new Error(`${file} is ${kindOf(found)}, not a file`);
}

/** @returns its size. @throws what `stat` throws, or an error that names the actual type. */
export async function checkFile(file: string): Promise<number> {
  return requireFile(file, await stat(file));
}

/** As `checkFile`. */
export function checkFileSync(file: string): number {
  return requireFile(file, statSync(file));
}
