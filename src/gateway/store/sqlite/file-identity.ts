/**
 * What a store file is, whatever it is called: its place on the disk. SQLite keeps its log under the name
 * that a file was opened by, so two names for one file would be two logs, and one of them would be lost.
 */
import { lstatSync, mkdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../../core/errors.ts";

/** A folder for this user alone; null where there is none to be had. */
function lockFolder(): string | null {
  const own = process.getuid?.();
  const folder = join(tmpdir(), `agent-trainer-stores${own === undefined ? "" : `-${own}`}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid } = lstatSync(folder);
    return lstatSync(folder).isDirectory() && (own === undefined || uid === own) ? folder : null;
  } catch {
    return null;
  }
}

/** Where a lock on this very file is, whatever name it is opened by; null where none can be. */
export function identityLockPath(path: string): string | null {
  const folder = lockFolder();
  if (folder === null) return null;
  const { dev, ino } = statSync(path, { bigint: true });
  return join(folder, `${dev}-${ino}.lock`);
}

/** @throws ConfigError when the file has a second name. */
export function requireOneName(path: string): void {
  const { nlink } = statSync(path);
  if (nlink <= 1) return;
  throw new ConfigError({
    message: `The trace store ${path} has ${nlink} names (hard links). Under another one, calls that are still in the log of this one would be missing.`,
    hint: "Remove the other names, or copy the file and use the copy.",
    fields: { option: "store", path, nlink },
  });
}
