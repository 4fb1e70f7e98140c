/** A model folder in Hugging Face layout: `config.json` and safetensors, in one file or in shards. */
import { join } from "node:path";
import { ModelError } from "../../core/errors.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import type { ModelSource } from "./model-source.ts";
import { findWeights, readWeights } from "./model-weights.ts";

/** @throws ModelError */
export async function openFolderSource(folder: string): Promise<ModelSource> {
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
