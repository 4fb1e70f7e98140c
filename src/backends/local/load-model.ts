/**
 * What belongs to a model in addition to its weights, for each format: tokenizer, renderer, and
 * configuration files.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ModelError } from "../../core/errors.ts";
import type { Renderer } from "../../core/policy.ts";
import {
  findModelAssets,
  jsonText,
  type ModelAssets,
} from "../../engine/checkpoint/model-assets.ts";
import { isGgufPath, openGguf } from "../../engine/checkpoint/gguf/gguf-file.ts";
import { openModelSource } from "../../engine/checkpoint/open-model-source.ts";
import { readGgufTokenizer, type TokenizerFiles } from "../../models/tokenizers/gguf-tokenizer.ts";
import { loadGgufRenderer, loadRenderer } from "../../models/renderers/load.ts";
import { checkVocabulary } from "../../models/tokenizers/check-vocabulary.ts";
import { readTokenizerFiles } from "../../models/tokenizers/tokenizer-files.ts";
import { readJsonFile } from "../../util/files/json-file.ts";

/** @param path a model folder or a `.gguf` file. @throws ModelError */
export async function loadModelRenderer(path: string): Promise<Renderer> {
  if (isGgufPath(path)) {
    const { metadata, tensors } = await openGguf(path);
    const { tokenizer } = readGgufTokenizer(metadata, path);
    checkVocabulary(tokenizer, tensors.get("token_embd.weight")?.shape[0], path);
    return loadGgufRenderer(metadata, path);
  }
  const config = join(path, "config.json");
  // A folder with only a tokenizer is used by a gateway in front of other servers.
  if (existsSync(config)) {
    const { tokenizer } = await readTokenizerFiles(path);
    const { vocab_size: size } = await readJsonFile(config).catch((cause: Error) => {
      throw new ModelError({ message: cause.message, cause, fields: { file: config } });
    });
    checkVocabulary(tokenizer, size, join(path, "tokenizer.json"));
  }
  return loadRenderer(path);
}

/** @throws ModelError */
export async function loadTokenizerFiles(path: string): Promise<TokenizerFiles> {
  if (!isGgufPath(path)) return readTokenizerFiles(path);
  return readGgufTokenizer((await openGguf(path)).metadata, path);
}

/** The files that a folder with this model's weights needs. @throws ModelError */
export async function modelAssets(path: string): Promise<ModelAssets> {
  if (!isGgufPath(path)) return findModelAssets(path);
  const [{ config }, files] = await Promise.all([openModelSource(path), loadTokenizerFiles(path)]);
  return new Map([
    ["config.json", { text: jsonText(config) }],
    ["tokenizer.json", { text: jsonText(files.tokenizer) }],
    ["tokenizer_config.json", { text: jsonText(files.config) }],
  ]);
}
