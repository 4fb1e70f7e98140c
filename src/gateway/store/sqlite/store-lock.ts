/**
 * One gateway per trace store: files that SQLite holds locks on, one next to the store for its name and one
 * for the file that it is. The system drops a lock when a process ends, however it ends, so nothing is
 * ever left behind that a later process would have to check.
 */
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
