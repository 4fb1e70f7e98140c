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
import { loadGgufRenderer } from "../../models/renderers/load.ts";
import { findRoleEnds, ggufEndIds, tokenIds, withRoleEnds } from "../../models/turn-ends.ts";
import { loadFolderRenderer } from "../find-renderer.ts";
import { readTokenizerFiles } from "../../models/tokenizers/tokenizer-files.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import { isJsonObject, type JsonFields, parseObject } from "../../util/json-object.ts";

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
    const renderer = loadGgufRenderer(metadata, path);
    return withRoleEnds(renderer, findRoleEnds(renderer, ggufEndIds(metadata)));
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
  return loadFolderRenderer(path);
}

/** @throws ModelError */
export async function loadTokenizerFiles(path: string): Promise<TokenizerFiles> {
  if (!isGgufPath(path)) return readTokenizerFiles(path);
  return readGgufTokenizer((await openGguf(path)).metadata, path);
}

/** Tokens that end a turn as the chat template writes it; none where there is no template. */
export async function findTurnEnds(path: string): Promise<readonly number[]> {
  const renderer = await loadModelRenderer(path).catch((error: unknown) => {
    if (ModelError.isInstance(error)) return null;
    throw error;
  });
  return renderer?.stop.tokenIds ?? [];
}

/** Programs that know only the files go on after a turn whose end these do not list. */
async function withTurnEnds(path: string, assets: ModelAssets): Promise<ModelAssets> {
  const name = "generation_config.json";
  const read = async (file: string): Promise<JsonFields | null> => {
    const asset = assets.get(file);
    if (asset === undefined) return {};
    if ("text" in asset) return parseObject(asset.text);
    return readJsonFile(asset.copyOf).catch(() => null);
  };
  const [config, own] = [await read("config.json"), await read(name)];
  // A damaged file is for those who read it.
  if (config === null || own === null) return assets;
  const listed = tokenIds(own["eos_token_id"] ?? config["eos_token_id"]);
  const ends = new Set([...listed, ...(await findTurnEnds(path))]);
  if (ends.size === listed.length) return assets;
  const inherited = assets.has(name)
    ? own
    : Object.fromEntries(
        ["bos_token_id", "pad_token_id"].flatMap((key) => {
          return (config[key] ?? null) === null ? [] : [[key, config[key]]];
        }),
      );
  const text = jsonText({ ...inherited, eos_token_id: [...ends] });
  return new Map([...assets, [name, { text }]]);
}

/** The files that a folder with this model's weights needs. @throws ModelError */
export async function modelAssets(path: string): Promise<ModelAssets> {
  if (!isGgufPath(path)) return withTurnEnds(path, findModelAssets(path));
  const [{ config }, files] = await Promise.all([openModelSource(path), loadTokenizerFiles(path)]);
  const assets: ModelAssets = new Map([
    ["config.json", { text: jsonText(config) }],
    ["tokenizer.json", { text: jsonText(files.tokenizer) }],
    ["tokenizer_config.json", { text: jsonText(files.config) }],
  ]);
  return withTurnEnds(path, assets);
}
