/**
 * Frozen weights as the runtime computes with them, where a model's own files are not: decoded once
 * into a scratch file that every graph maps. As inputs of a run they could not be rearranged for
 * the multiplication kernel beforehand, which costs up to half of the speed of small batches.
 */
import { rmSync } from "node:fs";
import {
  mkdtemp,
  open,
  readdir,
  rm,
  stat,
  statfs,
  utimes,
  type FileHandle,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ParameterSpec } from "../model/parameters.ts";
import type { ModelSource } from "./model-source.ts";
import type { StoredTensor } from "./model-weights.ts";
import { bytesPerElement, safetensorsHeader } from "./safetensors.ts";

/** Files in a separate temporary folder; disposing of it deletes them. */
export interface ScratchWeights extends Disposable {
  readonly folder: string;
  readonly files: ReadonlyMap<string, StoredTensor>;
}

/** Followed by the process's id, so that leftovers of killed processes can be recognized. */
const prefix = "agent-trainer-weights-";
const file = "weights.safetensors";
/** A process of another container has an id that does not exist here, so folders in use are marked. */
const markMs = 60_000;
const leftoverMs = 10 * markMs;
/** Relative to the size of the weights, so that other programs do not run out of space. */
const roomNeeded = 1.2;

/**
 * @param parent folder for temporary files. @default the system's
 * @returns null where there is no room for them, or the folder is not writable; they are then kept in
 * memory.
 * @throws what `source` throws.
 */
export async function decodeToScratch(
  source: ModelSource,
  base: readonly ParameterSpec[],
  parent: string = tmpdir(),
): Promise<ScratchWeights | null> {
  const dtype = "F32";
  const header = safetensorsHeader(base.map(({ name, shape }) => ({ name, shape, dtype })));
  const folder = await makeFolder(parent, header.size).catch(() => null);
  if (folder === null) return null;
  const mark = setInterval(() => {
    const now = new Date();
    void utimes(folder, now, now).catch(() => undefined);
  }, markMs).unref();
  const remove = (): void => {
    clearInterval(mark);
    process.removeListener("exit", remove);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", remove);
  try {
    if (!(await fill(join(folder, file), source, base, header))) {
      remove();
      return null;
    }
  } catch (error) {
    remove();
    throw error;
  }
  return {
    folder,
    files: new Map(
      base.map(({ name, shape }) => {
        const length = shape.reduce((n, dim) => n * dim, 1) * bytesPerElement[dtype];
        return [name, { file, dtype, shape, offset: header.offsets.get(name)!, length }];
      }),
    ),
    [Symbol.dispose]: remove,
  };
}

/** null where there is no room for `bytes`. */
async function makeFolder(parent: string, bytes: number): Promise<string | null> {
  await removeLeftovers(parent);
  const { bavail, bsize } = await statfs(parent);
  if (bavail * bsize < roomNeeded * bytes) return null;
  return await mkdtemp(join(parent, `${prefix}${process.pid}-`));
}

/** False when it could not be written; read errors are thrown. */
async function fill(
  path: string,
  source: ModelSource,
  base: readonly ParameterSpec[],
  header: ReturnType<typeof safetensorsHeader>,
): Promise<boolean> {
  const handle = await open(path, "w").catch(() => null);
  if (handle === null) return false;
  try {
    if (!(await writeAt(handle, header.bytes, 0))) return false;
    for await (const [name, data] of source.read(base.map(({ name: key }) => key))) {
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      if (!(await writeAt(handle, bytes, header.offsets.get(name)!))) return false;
    }
    return true;
  } finally {
    await handle.close();
  }
}

/** All of them, or false: a full disk may accept only a part. */
async function writeAt(handle: FileHandle, bytes: Uint8Array, start: number): Promise<boolean> {
  let done = 0;
  while (done < bytes.length) {
    const written = await handle
      .write(bytes, done, bytes.length - done, start + done)
      .catch(() => null);
    if (written === null || written.bytesWritten === 0) return false;
    done += written.bytesWritten;
  }
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Left by processes that were killed, minutes ago. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`, "u").exec(name)?.[1]);
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    const folder = join(parent, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > leftoverMs)
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
