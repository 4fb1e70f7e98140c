/**
 * Checkpoints that are in use stay: a file next to them for each that uses one, `checkpoints/.in-use/000010-....json`.
 * It counts while its process lives; or, where it names a file such as the one that hands a model over, while that
 * file names the checkpoint.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { writeFileAtomicSync } from "../util/files/atomic-write.ts";
import { isAlive, type LockRecord, ownRecord, readLock } from "./run-lock.ts";

interface Lease extends LockRecord {
  /** Of which checkpoint: a copy of the folder is in use by others. */
  readonly checkpoint: string;
  /** A JSON file that names the checkpoint as long as it needs it. */
  readonly namedBy?: string;
}

const folderOf = (root: string): string => join(root, ".in-use");

/**
 * Keeps a checkpoint from being deleted, until the returned function is called or this process ends.
 * @param namedBy as long as this file has the checkpoint's path instead, whichever process lives
 */
export function holdCheckpoint(path: string, namedBy?: string): () => void {
  const checkpoint = resolve(path);
  const lease: Lease = {
    ...ownRecord(),
    checkpoint,
    ...(namedBy === undefined ? {} : { namedBy: resolve(namedBy) }),
  };
  const folder = folderOf(dirname(checkpoint));
  const file = join(folder, `${basename(checkpoint)}-${lease.token}.json`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileAtomicSync(file, JSON.stringify(lease));
  } catch (error) {
    // Who may not write there deletes nothing there, either: the folder is an archive.
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["EACCES", "EPERM", "EROFS"].includes(code)) return () => {};
    throw error;
  }
  return () => {
    if (namedBy === undefined) rmSync(file, { force: true });
  };
}

function isNamed(checkpoint: string, file: string): boolean {
  try {
    return readFileSync(file, "utf8").includes(JSON.stringify(checkpoint));
  } catch {
    return false;
  }
}

/** Whether one of its users is still there; files of those that are not are removed. */
export function isHeld(path: string): boolean {
  const checkpoint = resolve(path);
  const folder = folderOf(dirname(checkpoint));
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return false;
  }
  let held = false;
  for (const name of names) {
    if (!name.startsWith(`${basename(checkpoint)}-`)) continue;
    const lease = readLock(join(folder, name)) as Lease | null;
    if (lease?.checkpoint !== checkpoint) continue;
    const { namedBy } = lease;
    if (namedBy === undefined ? isAlive(lease) : isNamed(checkpoint, namedBy)) held = true;
    // A file may name it soon.
    else if (!isAlive(lease)) rmSync(join(folder, name), { force: true });
  }
  return held;
}
