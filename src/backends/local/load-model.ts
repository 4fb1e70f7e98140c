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
import { readTokenizerFiles } from "../../models/tokenizers/tokenizer-files.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import { isJsonObject } from "../../util/json-object.ts";

interface Token {
  readonly content: unknown;
  readonly id: unknown;
}

/** The tokens of a `tokenizer.json`; what cannot be read as such is ignored here. */
function* tokensOf(tokenizer: Readonly<Record<string, unknown>>): Generator<Token> {
  const { model, added_tokens: added } = tokenizer;
  const vocab = isJsonObject(model) ? model["vocab"] : undefined;
  if (Array.isArray(vocab)) {
    if (vocab.length > 0) yield { content: vocab.at(-1), id: vocab.length - 1 };
  } else if (isJsonObject(vocab)) {
    for (const [content, id] of Object.entries(vocab)) yield { content, id };
  }
  for (const token of Array.isArray(added) ? (added as unknown[]) : [])
    if (isJsonObject(token)) yield { content: token["content"], id: token["id"] };
}

/**
 * @param vocabSize rows of the embedding; nothing is checked where it is not known
 * @throws ModelError naming the token.
 */
function checkVocabulary(
  tokenizer: Readonly<Record<string, unknown>>,
  vocabSize: unknown,
  source: string,
): void {
  if (typeof vocabSize !== "number") return;
  for (const { content, id } of tokensOf(tokenizer)) {
    if (Number.isInteger(id) && (id as number) >= 0 && (id as number) < vocabSize) continue;
    throw new ModelError({
      message: `${source}: the token ${JSON.stringify(content)} has the id ${JSON.stringify(id)}, but the model's ids are 0 to ${vocabSize - 1}.`,
      hint: "Tokenizer and weights do not belong together; use those of one model, or resize the model's embedding.",
      fields: { source, token: content, id, vocabSize },
    });
  }
}

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
