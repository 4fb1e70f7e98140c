/** Files and folders that appear complete or not at all: written under another name, synced, renamed. */
import { chmodSync, writeFileSync } from "node:fs";
import { mkdir, open, readdir, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { rename, renameSync } from "./rename.ts";

type Content = string | Uint8Array | ((file: FileHandle) => Promise<void>);

/** In the same folder, since a rename cannot move to another disk. */
function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.incomplete`);
}

const isWindows = process.platform === "win32";

/** Waits until the content of a file is on the disk itself; Windows syncs only what is open for writing. */
async function syncFile(path: string): Promise<void> {
  await syncOpen(path, isWindows ? "r+" : "r");
}

/** The same for the names in a folder; Windows has no such call. */
export async function syncFolder(path: string): Promise<void> {
  if (!isWindows) await syncOpen(path, "r");
}

async function syncOpen(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a file whose content is on the disk itself when this resolves. */
export async function writeSynced(path: string, content: Content): Promise<void> {
  const handle = await open(path, "w");
  try {
    if (typeof content === "function") await content(handle);
    else await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates or replaces a file; missing folders are made.
 * @param temporary its name until it is complete. @default hidden, in the same folder
 */
export async function writeFileAtomic(
  path: string,
  content: Content,
  temporary: string = temporaryOf(path),
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeSynced(temporary, content);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** How a file is written. */
export interface AtomicWriteOptions {
  /** Its name until it is complete. @default hidden, in the same folder */
  readonly temporary?: string;
  /** Who may read it. @default everyone that the process's mask lets */
  readonly mode?: number;
}

/** As `writeFileAtomic`, in a folder that exists. */
export function writeFileAtomicSync(
  path: string,
  content: string | Uint8Array,
  { temporary = temporaryOf(path), mode }: AtomicWriteOptions = {},
): void {
  writeFileSync(temporary, content, { flush: true, ...(mode === undefined ? {} : { mode }) });
  // One that was left by a crash keeps the mode that it had.
  if (mode !== undefined) chmodSync(temporary, mode);
  renameSync(temporary, path);
}

/**
 * Creates or replaces a folder that `write` fills; missing folders above it are made. A failure leaves
 * what was there before.
 * @param temporary its name until it is complete. @default hidden, in the same folder
 */
export async function writeFolderAtomic(
  path: string,
  write: (folder: string) => Promise<void>,
  temporary: string = temporaryOf(path),
): Promise<void> {
  const parent = dirname(path);
  try {
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { recursive: true });
    await write(temporary);
    await syncTree(temporary);
    await mkdir(parent, { recursive: true });
    await rm(path, { recursive: true, force: true });
    await rename(temporary, path);
    await syncFolder(parent);
  } finally {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) await syncFile(path);
  }
  await syncFolder(folder);
}
