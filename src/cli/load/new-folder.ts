/** A folder for results where none is named. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";

/** `evals/2026-01-31T12-00-00-1a2b3c`, so that folders sort by time. */
export function newFolder(parent: string): string {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  return join(parent, `${time}-${randomBytes(3).toString("hex")}`);
}
