/** A model on disk, by what its path is. */
import { join } from "node:path";
import { isGgufPath } from "./gguf/gguf-file.ts";
import { openGgufSource } from "./gguf/gguf-source.ts";
import type { ModelSource } from "./model-source.ts";
import { ModelError } from "../../core/errors.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import { findWeights, readWeights } from "./model-weights.ts";

/** `config.json` and safetensors, in one file or in shards. @throws ModelError */
async function openFolderSource(folder: string): Promise<ModelSource> {
  const configFile = join(folder, "config.json");
  const config = await readJsonFile(configFile).catch((cause: Error) => {
    throw new ModelError({
      message: cause.message,
      hint: "A model is a .gguf file, or a folder with config.json, model.safetensors and tokenizer.json.",
      cause,
      fields: { file: configFile },
    });
  });
  const stored = await findWeights(folder);
  return {
    format: "safetensors",
    path: folder,
    config,
    configFile,
    tensors: new Map(
      Array.from(stored, ([name, { dtype, shape, length }]) => [
        name,
        { type: dtype, shape, length },
      ]),
    ),
    files: stored,
    read: (names) => readWeights(folder, stored, names),
  };
}

/** @param path a folder in Hugging Face layout, or a `.gguf` file. @throws ModelError */
export function openModelSource(path: string): Promise<ModelSource> {
  return isGgufPath(path) ? openGgufSource(path) : openFolderSource(path);
}
