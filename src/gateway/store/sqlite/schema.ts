/** The file of a trace store: its tables, its version, and whether a file is one at all. */
import { closeSync, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import type Libsql from "libsql";
import type { Database } from "libsql";
import { ConfigError } from "../../../core/errors.ts";
import { fileError } from "../../../core/file-error.ts";
import {
  identityLockPath,
  requireOneName,
  lockStore,
  lockWaitMs,
  type StoreLock,
} from "./store-lock.ts";

/** "ATTS" in `PRAGMA application_id`. */
const applicationId = 0x41545453;
const schemaVersion = 2;

const tables = `
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  created REAL,
  key_digest BLOB,
  record BLOB
);
CREATE TABLE traces (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE,
  session INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  choice INTEGER NOT NULL,
  head INTEGER,
  base INTEGER,
  kept INTEGER NOT NULL,
  finished REAL NOT NULL,
  prompt BLOB,
  response BLOB NOT NULL,
  logprobs BLOB NOT NULL,
  body BLOB NOT NULL
);
CREATE INDEX traces_by_session ON traces (session);
`;

/** Rows are a few kilobytes, so small pages leave the least of them empty. */
export const pageSize = 1024;
/**
 * The log is moved into the file next to the commits; where that does not keep up, a commit does it. It
 * also lets the log begin anew, for which there must be no writer.
 */
const walPages = 4096;

function foreign(path: string, what: string, hint: string, cause?: unknown): ConfigError {
  return new ConfigError({
    message: `${path} ${what}.`,
    hint,
    cause,
    fields: { option: "store", path },
  });
}

const another = "Name another file for the trace store; it is created where there is none.";

function pragma(db: Database, name: string): unknown {
  return Object.values((db.pragma(name) as Record<string, unknown>[])[0] ?? {})[0];
}

function checkKind(db: Database, path: string): void {
  const version = Number(pragma(db, "user_version"));
  if (pragma(db, "application_id") !== applicationId) {
    const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const list = (names as { name: string }[]).map(({ name }) => name).join(", ");
    throw foreign(path, `is a database of another program (tables: ${list})`, another);
  }
  if (version === schemaVersion) return;
  throw foreign(
    path,
    `has schema version ${version}, but this version of agent-trainer reads ${schemaVersion}`,
    "Use the version of agent-trainer that wrote it, or name another file.",
  );
}

function createTables(db: Database): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    db.exec(tables);
    db.exec(`PRAGMA application_id = ${applicationId}`);
    db.exec(`PRAGMA user_version = ${schemaVersion}`);
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

function isEmpty(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() === undefined;
}

/** Loaded when a file is opened, so that a gateway in memory needs no native code. */
function loadLibsql(): typeof Libsql {
  return createRequire(import.meta.url)("libsql") as typeof Libsql;
}

function openFile(path: string, busyMs: number): Database {
  if (!existsSync(path)) {
    try {
      // Traces hold whatever agents say, so other users may not read them. SQLite gives its other files the same mode.
      closeSync(openSync(path, "a", 0o600));
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const hint = code === "ENOENT" ? "Create its folder first." : fileError(cause)?.hint;
      throw foreign(path, `cannot be created (${code})`, hint ?? another, cause);
    }
  }
  if (statSync(path).isDirectory()) throw foreign(path, "is a folder", another);
  const Database = loadLibsql();
  try {
    return new Database(path, { timeout: busyMs });
  } catch (cause) {
    throw foreign(path, "cannot be opened", another, cause);
  }
}

/** An open store that no other process has. */
export interface StoreFile {
  readonly db: Database;
  readonly lock: StoreLock;
}

/** As SQLite calls it; see `SqliteTraceStoreOptions`. */
export type Synchronous = "full" | "normal";

/** Settings of the connection that writes. */
export function writerSetup(synchronous: Synchronous, maxBytes: number | undefined): string {
  return [
    `PRAGMA synchronous = ${synchronous}`,
    "PRAGMA cache_size = -16384",
    `PRAGMA wal_autocheckpoint = ${walPages}`,
    ...(maxBytes === undefined
      ? []
      : [`PRAGMA max_page_count = ${Math.ceil(maxBytes / pageSize)}`]),
  ].join(";");
}

/** For reading. @throws ConfigError when the file is not a trace store of this version, or is in use. */
export function openDatabase(path: string): StoreFile {
  const db = openFile(path, 0);
  const locks: StoreLock[] = [];
  const lock: StoreLock = {
    release: () => {
      for (const each of locks) each.release();
    },
  };
  try {
    // By its one true name, whatever links lead to it, which holds wherever folders are shared.
    locks.push(lockStore(openFile(`${realpathSync(path)}-lock`, lockWaitMs), path));
    // By what it is, for a file that got another name meanwhile.
    const identity = identityLockPath(path);
    if (identity !== null) locks.push(lockStore(openFile(identity, lockWaitMs), path));
    requireOneName(path);
    db.exec(`PRAGMA page_size = ${pageSize}`);
    if (isEmpty(db)) {
      pragma(db, "journal_mode = WAL");
      createTables(db);
    } else checkKind(db, path);
    pragma(db, "journal_mode = WAL");
    db.exec("PRAGMA cache_size = -16384");
    return { db, lock };
  } catch (error) {
    db.close();
    lock.release();
    const { code } = error as { code?: unknown };
    if (code === "SQLITE_NOTADB" || code === "SQLITE_CORRUPT") {
      throw foreign(path, "is not a trace store, or it is damaged", another, error);
    }
    if (String(code).startsWith("SQLITE_BUSY")) {
      throw foreign(path, "is locked by another program", "Let that one end first.", error);
    }
    throw error;
  }
}
