/** Writes a model as a Hugging Face folder: safetensors, in shards where they are large, and tokenizer and configuration files. */
import { open, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeFolderAtomic } from "../../util/files/atomic-write.ts";
import { fitSource } from "../model/fit-source.ts";
import { jsonText, writeModelAssets, type ModelAssets } from "./model-assets.ts";
import type { ModelSource } from "./model-source.ts";
import { encodeNumbers, formatFacts, type NumberFormat } from "./number-format.ts";
import { safetensorsHeader } from "./safetensors.ts";
import { refuseExisting } from "./refuse-existing.ts";

export interface ExportOptions {
  readonly signal?: AbortSignal;
  /** Called after each tensor. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface FolderExportOptions extends ExportOptions {
  readonly format: NumberFormat;
  readonly assets: ModelAssets;
  /** @default 5e9, as Hugging Face cuts them */
  readonly maxShardBytes?: number;
}

/** @throws ConfigError when `folder` exists. */
export async function exportFolder(
  source: ModelSource,
  folder: string,
  options: FolderExportOptions,
): Promise<void> {
  const { format, assets, maxShardBytes = 5e9 } = options;
  const names = fitSource(source).base.map(({ name }) => name);
  const sizeOf = (name: string): number =>
    source.tensors.get(name)!.shape.reduce((product, dim) => product * dim, 1) *
    formatFacts[format].bytes;
  const shards = cutShards(names, sizeOf, maxShardBytes);
  const target = resolve(folder);
  refuseExisting(target);
  await writeFolderAtomic(target, async (temporary) => {
    await writeModelAssets(assets, temporary);
    const { torch_dtype: _, ...config } = source.config;
    const typed = { ...config, dtype: formatFacts[format].torch };
    await writeFile(join(temporary, "config.json"), jsonText(typed));
    let done = 0;
    const weightMap: Record<string, string> = {};
    for (const [index, members] of shards.entries()) {
      const file = shardName(index, shards.length);
      for (const name of members) weightMap[name] = file;
      await writeShard(source, join(temporary, file), members, format, () => {
        options.signal?.throwIfAborted();
        options.onProgress?.((done += 1), names.length);
      });
    }
    if (shards.length === 1) return;
    const total = names.reduce((sum, name) => sum + sizeOf(name), 0);
    const index = { metadata: { total_size: total }, weight_map: weightMap };
    await writeFile(join(temporary, "model.safetensors.index.json"), jsonText(index));
  });
}

function cutShards(
  names: readonly string[],
  sizeOf: (name: string) => number,
  limit: number,
): readonly (readonly string[])[] {
  const shards: string[][] = [[]];
  let filled = 0;
  for (const name of names) {
    const size = sizeOf(name);
    if (filled > 0 && filled + size > limit) {
      shards.push([]);
      filled = 0;
    }
    shards.at(-1)!.push(name);
    filled += size;
  }
  return shards;
}

function shardName(index: number, count: number): string {
  if (count === 1) return "model.safetensors";
  const five = (value: number): string => String(value).padStart(5, "0");
  return `model-${five(index + 1)}-of-${five(count)}.safetensors`;
}

async function writeShard(
  source: ModelSource,
  file: string,
  names: readonly string[],
  format: NumberFormat,
  onTensor: () => void,
): Promise<void> {
  const { stored } = formatFacts[format];
  const handle = await open(file, "w");
  try {
    const header = safetensorsHeader(
      names.map((name) => ({ name, dtype: stored, shape: source.tensors.get(name)!.shape })),
    );
    await handle.writeFile(header.bytes);
    for await (const [name, data] of source.read(names)) {
      const bytes = encodeNumbers(data, format);
      await handle.write(bytes, 0, bytes.length, header.offsets.get(name));
      onTensor();
    }
  } finally {
    await handle.close();
  }
}
