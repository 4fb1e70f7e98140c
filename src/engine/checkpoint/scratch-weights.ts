/**
 * Frozen weights as the runtime computes with them, where a model's own files are not: decoded once
 * into a scratch file that every graph maps. As inputs of a run they could not be brought into the
 * order of the multiplication kernel beforehand, which costs up to half of the speed of small batches.
 */
import { rmSync } from "node:fs";
import { mkdtemp, open, readdir, rm, stat, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ParameterSpec } from "../model/parameters.ts";
import type { ModelSource } from "./model-source.ts";
import type { StoredTensor } from "./model-weights.ts";
import { bytesPerElement, safetensorsHeader } from "./safetensors.ts";

/** Files in a temporary folder of their own; disposing of it deletes them. */
export interface ScratchWeights extends Disposable {
  readonly folder: string;
  readonly files: ReadonlyMap<string, StoredTensor>;
}

/** Followed by the process's id, so that leftovers of killed ones can be told. */
const prefix = "agent-trainer-weights-";
const file = "weights.safetensors";
/** A process of another container may have an id that nobody has here. */
const leftoverMs = 24 * 3_600_000;
/** Of the size of the weights: nothing else should run out of space. */
const roomNeeded = 1.2;

/**
 * @param parent folder for temporary files. @default that of the system
 * @returns null where there is no room for them; they have to be held in memory then.
 */
export async function decodeToScratch(
  source: ModelSource,
  base: readonly ParameterSpec[],
  parent: string = tmpdir(),
): Promise<ScratchWeights | null> {
  await removeLeftovers(parent);
  const dtype = "F32";
  const header = safetensorsHeader(base.map(({ name, shape }) => ({ name, shape, dtype })));
  const { bavail, bsize } = await statfs(parent);
  if (bavail * bsize < roomNeeded * header.size) return null;
  const folder = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", remove);
  try {
    const handle = await open(join(folder, file), "w");
    try {
      await handle.write(header.bytes, 0, header.bytes.length, 0);
      for await (const [name, data] of source.read(base.map(({ name: key }) => key))) {
        const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
        await handle.write(bytes, 0, bytes.length, header.offsets.get(name));
      }
    } finally {
      await handle.close();
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
    [Symbol.dispose]() {
      process.removeListener("exit", remove);
      remove();
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Of processes that were killed. */
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
