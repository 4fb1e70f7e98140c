/** Writes a GGUF file: header and tensors, one in memory at a time; all of it or nothing. */
import { resolve } from "node:path";
import { writeFileAtomic } from "../../../util/files/atomic-write.ts";
import type { ExportOptions } from "../export-folder.ts";
import { refuseExisting } from "../refuse-existing.ts";
import { encodeTensor, type GgufFormat, tensorBytes, typeNumbers } from "./gguf-format.ts";
import { ggufHeader, type GgufValues } from "./gguf-writer.ts";

/** A tensor to be written. */
export interface GgufPart {
  readonly name: string;
  /** Row-major. */
  readonly shape: readonly number[];
  readonly format: GgufFormat;
}

export interface GgufContent extends ExportOptions {
  readonly values: GgufValues;
  readonly parts: readonly GgufPart[];
  /** The numbers of all parts, in any order. */
  readonly read: () => AsyncIterable<readonly [name: string, data: Float32Array]>;
}

/** @throws ConfigError when `file` exists. */
export async function writeGguf(file: string, content: GgufContent): Promise<void> {
  const { values, parts, read, signal, onProgress } = content;
  const byName = new Map(parts.map((part) => [part.name, part]));
  const header = ggufHeader(
    values,
    parts.map(({ name, shape, format }) => ({
      name,
      type: typeNumbers[format].tensor,
      shape,
      bytes: tensorBytes(shape, format),
    })),
  );
  const target = resolve(file);
  refuseExisting(target);
  await writeFileAtomic(target, async (handle) => {
    await handle.truncate(header.size);
    await handle.write(header.bytes, 0, header.bytes.length, 0);
    let done = 0;
    for await (const [name, data] of read()) {
      const { shape, format } = byName.get(name)!;
      const bytes = encodeTensor(data, shape, format);
      await handle.write(bytes, 0, bytes.length, header.offsets.get(name));
      signal?.throwIfAborted();
      onProgress?.((done += 1), parts.length);
    }
  });
}
