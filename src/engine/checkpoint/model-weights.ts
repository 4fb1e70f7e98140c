/** Finds and reads a model folder's weights: `model.safetensors`, or shards and their index. */
import { existsSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { ModelError } from "../../core/errors.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import { groupBy } from "../../util/group-by.ts";
import { readChunks } from "./read-chunks.ts";
import { bytesPerElement, decodeTensor, readHeader, type TensorEntry } from "./safetensors.ts";
import { isJsonObject } from "../../util/json-object.ts";

export interface StoredTensor extends TensorEntry {
  /** File name within the model's folder. */
  readonly file: string;
}

const single = "model.safetensors";
const index = "model.safetensors.index.json";

/** Every tensor of a folder, by name. Reads headers only. @throws ModelError */
export async function findWeights(folder: string): Promise<ReadonlyMap<string, StoredTensor>> {
  const found = new Map<string, StoredTensor>();
  for (const file of await weightFiles(folder)) {
    const entries = await readHeader(join(folder, file)).catch((cause: unknown) => {
      if (ModelError.isInstance(cause)) throw cause;
      throw new ModelError({
        message: `${join(folder, file)} cannot be read: ${(cause as Error).message}.`,
        cause,
        fields: { file },
      });
    });
    for (const [name, entry] of entries) found.set(name, { ...entry, file });
  }
  return found;
}

async function weightFiles(folder: string): Promise<readonly string[]> {
  if (existsSync(join(folder, single)) || !existsSync(join(folder, index))) return [single];
  const file = join(folder, index);
  const json = (await readJsonFile(file).catch((cause: Error) => {
    throw new ModelError({ message: cause.message, cause, fields: { file } });
  })) as { weight_map?: unknown };
  const map = json.weight_map;
  const shards = new Set<unknown>(isJsonObject(map) ? Object.values(map) : []);
  if (shards.size === 0) {
    throw new ModelError({
      message: `${file} has no "weight_map" from tensors to files.`,
      fields: { file },
    });
  }
  for (const shard of shards) {
    if (typeof shard !== "string") {
      throw new ModelError({
        message: `${file} names ${JSON.stringify(shard)} in its "weight_map", which is not the name of a file.`,
        fields: { file, shard },
      });
    }
    if (basename(shard) !== shard) {
      throw new ModelError({
        message: `${file} names a file outside of its folder: "${shard}".`,
        fields: { file, shard },
      });
    }
  }
  return ([...shards] as string[]).toSorted();
}

/** The named tensors as 32-bit floats, one at a time, so that no file is in memory in full. */
export async function* readWeights(
  folder: string,
  stored: ReadonlyMap<string, StoredTensor>,
  names: readonly string[],
): AsyncGenerator<readonly [name: string, data: Float32Array]> {
  for (const [file, members] of groupBy(names, (name) => stored.get(name)!.file)) {
    const handle = await open(join(folder, file), "r");
    try {
      for (const name of members)
        yield [name, await readTensor(handle, stored.get(name)!)] as const;
    } finally {
      await handle.close();
    }
  }
}

async function readTensor(handle: FileHandle, entry: StoredTensor): Promise<Float32Array> {
  const size = bytesPerElement[entry.dtype];
  const result = new Float32Array(entry.length / size);
  await readChunks(handle, entry, size, (piece, start) => {
    result.set(decodeTensor(piece, entry.dtype), start / size);
  });
  return result;
}
