/** Files and folders that appear complete or not at all: written under another name, synced, renamed. */
import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ConfigError } from "../../core/errors.ts";

function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.incomplete`);
}

/** @throws ConfigError when there already is something: nothing is overwritten. */
export function refuseExisting(path: string): void {
  if (!existsSync(path)) return;
  throw new ConfigError({
    message: `${path} exists already, and nothing is overwritten.`,
    hint: "Give another name, or remove it first.",
    fields: { path },
  });
}

/** @throws ConfigError when `path` exists. */
export async function writeFileAtomic(
  path: string,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const target = resolve(path);
  refuseExisting(target);
  const temporary = temporaryOf(target);
  await mkdir(dirname(target), { recursive: true });
  try {
    const handle = await open(temporary, "w");
    try {
      await write(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** @throws ConfigError when `path` exists. */
export async function writeFolderAtomic(
  path: string,
  write: (folder: string) => Promise<void>,
): Promise<void> {
  const target = resolve(path);
  refuseExisting(target);
  const temporary = temporaryOf(target);
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true });
  try {
    await write(temporary);
    for (const name of await readdir(temporary)) await syncFile(join(temporary, name));
    await rename(temporary, target);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
