/**
 * `run.lock`: only one process at a time writes to a run folder. A lock left by a dead process is
 * taken over.
 */
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { AgentTrainerError } from "../core/errors.ts";
import { renameSync } from "../util/files/rename.ts";

/** The process that has something. */
export interface LockRecord {
  readonly pid: number;
  readonly host: string;
  /** Start time of the process: containers give a new process the pid of a dead one. */
  readonly processStart: number;
  readonly token: string;
}

const processStart = (): number => Math.round(performance.timeOrigin);

/** Null where the file is not there, or no such record. */
export function readLock(path: string): LockRecord | null {
  try {
    const record = JSON.parse(readFileSync(path, "utf8")) as LockRecord | null;
    return typeof record?.pid === "number" ? record : null;
  } catch {
    return null;
  }
}

/** False only where it is known to have ended. */
export function isAlive(record: LockRecord): boolean {
  if (record.host !== hostname()) return true;
  if (record.pid === process.pid) return record.processStart === processStart();
  try {
    process.kill(record.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether a live process holds the lock of a run folder. */
export function isLocked(folder: string): boolean {
  const found = readLock(join(folder, "run.lock"));
  return found !== null && isAlive(found);
}

/** Of this process. */
export const ownRecord = (): LockRecord => ({
  pid: process.pid,
  host: hostname(),
  processStart: processStart(),
  token: crypto.randomUUID(),
});

function lockedError(path: string, record: LockRecord | null): AgentTrainerError {
  const owner = record === null ? "another process" : `process ${record.pid} on ${record.host}`;
  return new AgentTrainerError({
    code: "RUN_LOCKED",
    message: `The run folder is in use by ${owner}.`,
    hint: `Wait for it, or choose another trainer.experiment_name. If that process is not a run, delete ${path}.`,
    fields: { path, pid: record?.pid, host: record?.host },
  });
}

/**
 * Locks a run folder; the returned function releases it.
 * @throws AgentTrainerError RUN_LOCKED when a live process holds it.
 */
export function lockRun(folder: string): () => void {
  const path = join(folder, "run.lock");
  const record = ownRecord();
  // Written to a temporary file and linked, so that no process reads a lock without its content.
  const temporary = join(folder, `.run.lock.${record.token}`);
  try {
    writeFileSync(temporary, JSON.stringify(record));
    while (!tryLink(temporary, path)) clearStale(path, `${temporary}.stale`);
  } finally {
    rmSync(temporary, { force: true });
  }
  return () => {
    if (readLock(path)?.token === record.token) rmSync(path, { force: true });
  };
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function clearStale(path: string, temporary: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new AgentTrainerError({
      code: "RUN_LOCKED",
      message: `${path} is a folder, but it must be the file that locks the run.`,
      hint: "No run makes such a folder: delete it.",
      fields: { path },
    });
  }
  const found = readLock(path);
  if (found !== null && isAlive(found)) throw lockedError(path, found);
  try {
    renameSync(path, temporary);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  const moved = readLock(temporary);
  if (moved?.token !== found?.token) {
    // Another process cleared the stale lock first, and this lock is its own.
    renameSync(temporary, path);
    throw lockedError(path, moved);
  }
  rmSync(temporary, { force: true });
}
