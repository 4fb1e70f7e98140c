/** A GGUF file as a model: tensors under Hugging Face names, decoded as they are read. */
import { open, type FileHandle } from "node:fs/promises";
import { ModelError } from "../../../core/errors.ts";
import { ggufModelConfig } from "./gguf-config.ts";
import { openGguf, type GgufTensor } from "./gguf-file.ts";
import { hasReorderedRows, hubName, hubRow, normShift } from "./gguf-names.ts";
import { ropeTensors } from "./gguf-rope.ts";
import type { ModelSource, SourceTensor } from "../model-source.ts";
import { readChunks } from "../read-chunks.ts";

/** @throws ModelError */
export async function openGgufSource(path: string): Promise<ModelSource> {
  const file = await openGguf(path);
  const ropeFactors = new Map<string, Float32Array>();
  for (const name of Object.values(ropeTensors)) {
    const tensor = file.tensors.get(name);
    if (tensor !== undefined)
      ropeFactors.set(name, await withFile(path, (handle) => decode(handle, tensor)));
  }
  const config = ggufModelConfig(file, ropeFactors);
  const architecture = String(file.metadata["general.architecture"]);
  const stored = new Map<string, GgufTensor>();
  for (const [name, tensor] of file.tensors) {
    if (ropeFactors.has(name)) continue;
    const hub = hubName(architecture, name);
    if (hub === undefined) {
      throw new ModelError({
        message: `${path}: tensor "${name}" is not one that ${architecture} models of this library have.`,
        hint: "The model's architecture differs from the one it names.",
        fields: { file: path, name },
      });
    }
    stored.set(hub, tensor);
  }
  return {
    format: "gguf",
    path,
    config,
    configFile: path,
    files: null,
    tensors: new Map(Array.from(stored, ([name, tensor]) => [name, describe(tensor)])),
    async *read(names) {
      const handle = await open(path, "r");
      try {
        for (const name of names) {
          const headSize = hasReorderedRows(architecture, name) ? Number(config["head_dim"]) : null;
          const data = await decode(handle, stored.get(name)!, headSize);
          const shift = normShift(architecture, name);
          yield [name, shift === 0 ? data : data.map((value) => value - shift)] as const;
        }
      } finally {
        await handle.close();
      }
    },
  };
}

function describe({ type, shape, length }: GgufTensor): SourceTensor {
  return { type: type.name, shape, length };
}

async function withFile<T>(path: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path, "r");
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/** @param headSize rows are restored to Hugging Face's order within heads of this size. */
async function decode(
  handle: FileHandle,
  { type, shape, offset, length }: GgufTensor,
  headSize: number | null = null,
): Promise<Float32Array> {
  const columns = shape.at(-1)!;
  const rowBytes = (columns / type.elements) * type.bytes;
  const result = new Float32Array(shape.reduce((product, dim) => product * dim, 1));
  await readChunks(handle, { offset, length }, rowBytes, (piece, start) => {
    const first = start / rowBytes;
    const rows = piece.length / rowBytes;
    if (headSize === null) {
      type.decode(piece, result.subarray(first * columns, (first + rows) * columns));
      return;
    }
    for (let row = 0; row < rows; row++) {
      const to = hubRow(first + row, headSize) * columns;
      const bytes = piece.subarray(row * rowBytes, (row + 1) * rowBytes);
      type.decode(bytes, result.subarray(to, to + columns));
    }
  });
  return result;
}
