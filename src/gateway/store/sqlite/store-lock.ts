/**
 * One gateway per trace store: files that SQLite holds locks on, one next to the store for its name and one
 * for the file that it is. The system drops a lock when a process ends, however it ends, so nothing is
 * ever left behind that a later process would have to check. A file is its place on the disk: SQLite keeps its
 * log under the name that a file was opened by, so two names for one file would be two logs, and one of them
 * would be lost.
 */
import { lstatSync, mkdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "libsql";
import { ConfigError } from "../../../core/errors.ts";

export interface StoreLock {
  release(): void;
}

/** A gateway that was killed may take a moment to be gone. */
export const lockWaitMs = 250;

/** `file` is the open lock file of the store at `path`. @throws ConfigError when another process has it. */
export function lockStore(file: Database, path: string): StoreLock {
  try {
    // Never ended: the lock is the transaction.
    file.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    file.close();
    const { code } = cause as { code?: unknown };
    if (!String(code).startsWith("SQLITE_BUSY")) throw cause;
    throw new ConfigError({
      message: `Another gateway uses the trace store ${path}.`,
      hint: "Stop it first, or name another file for this one.",
      cause,
      fields: { option: "store", path },
    });
  }
  return {
    release: () => {
      file.close();
    },
  };
}

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
