/** The index of a run's episodes: one SQLite file, which can be deleted at any time. */
import { createHash } from "node:crypto";
import { accessSync, constants, lstatSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type Libsql from "libsql";
import type { Database } from "libsql";

/** Raise it with every change of the tables or of what is in them: older files are rebuilt. */
const version = 5;

const tables = `
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  bytes INTEGER NOT NULL,
  damaged INTEGER NOT NULL,
  mark TEXT NOT NULL,
  stamp TEXT NOT NULL
);
CREATE TABLE episodes (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  file INTEGER NOT NULL,
  at INTEGER NOT NULL,
  inside INTEGER,
  bytes INTEGER NOT NULL,
  id TEXT NOT NULL,
  step INTEGER NOT NULL,
  phase TEXT NOT NULL,
  task TEXT NOT NULL,
  question TEXT NOT NULL,
  rollout INTEGER NOT NULL,
  reward REAL,
  correct INTEGER,
  ended TEXT NOT NULL,
  error TEXT,
  calls INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  response_tokens INTEGER NOT NULL,
  tool_calls INTEGER NOT NULL,
  tool_errors INTEGER NOT NULL,
  truncated INTEGER NOT NULL,
  malformed INTEGER NOT NULL,
  seconds REAL NOT NULL,
  weight_version INTEGER,
  preview TEXT NOT NULL,
  signals TEXT
);
CREATE INDEX by_id ON episodes (id);
CREATE INDEX by_file ON episodes (file);
CREATE INDEX by_step ON episodes (step, phase, task);
CREATE INDEX by_task ON episodes (task, step);
CREATE INDEX by_phase ON episodes (phase, task, step, reward);
CREATE INDEX by_reward ON episodes (reward);
CREATE INDEX by_ended ON episodes (ended, reward);
CREATE INDEX with_tool_errors ON episodes (n) WHERE tool_errors > 0;
CREATE INDEX with_error ON episodes (n) WHERE error IS NOT NULL;
CREATE INDEX truncated ON episodes (n) WHERE truncated > 0;
CREATE INDEX malformed ON episodes (n) WHERE malformed > 0;
CREATE INDEX incorrect ON episodes (n) WHERE correct = 0;
CREATE TABLE totals (ended TEXT NOT NULL, phase TEXT NOT NULL, step INTEGER NOT NULL,
  episodes INTEGER NOT NULL, calls INTEGER NOT NULL, PRIMARY KEY (ended, phase, step));
CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1);
`;

/** Whether a file of the index may be made there: a folder or a link of this name is not the viewer's. */
function isFree(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

/** In the run's folder, or in the user's cache where it cannot be written there. */
export function indexPath(folder: string): string {
  const path = resolve(folder);
  const own = join(path, "index.db");
  try {
    accessSync(path, constants.W_OK);
    if (isFree(own)) return own;
  } catch {
    // The cache is used.
  }
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const into = join(cache, "agent-trainer", "view");
  mkdirSync(into, { recursive: true });
  return join(into, `${createHash("sha256").update(path).digest("hex").slice(0, 24)}.db`);
}

function tryOpen(path: string): Database {
  // Loaded on use: the package is native.
  const Sqlite = createRequire(import.meta.url)("libsql") as typeof Libsql;
  const db = new Sqlite(path);
  try {
    db.pragma("journal_mode = WAL");
    // It can be rebuilt, so a power cut may cost it.
    db.pragma("synchronous = OFF");
    db.pragma("busy_timeout = 10000");
    db.pragma("cache_size = -32000");
    db.exec("BEGIN IMMEDIATE");
    const found = Number(
      Object.values((db.pragma("user_version") as Record<string, unknown>[])[0] ?? {})[0],
    );
    if (found === 0) {
      db.exec(tables);
      db.exec(`PRAGMA user_version = ${version}`);
    } else if (found !== version) throw new Error(`The index has version ${found}.`);
    db.exec("COMMIT");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens the index at `path`; one of another version, or that cannot be read, is made anew. */
export function openIndexFile(path: string): Database {
  try {
    return tryOpen(path);
  } catch {
    for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
    return tryOpen(path);
  }
}
