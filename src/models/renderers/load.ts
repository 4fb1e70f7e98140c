/** Finds the renderer of a model: a folder, or the metadata of a GGUF file. */
import { join } from "node:path";
import type { Renderer } from "../../core/policy.ts";
import { chooseRenderer, type RendererOptions } from "./choose-renderer.ts";
import { readGgufTokenizer } from "../tokenizers/gguf-tokenizer.ts";
import { createTokenizer } from "../tokenizers/tokenizer.ts";
import { readTokenizerFiles } from "../tokenizers/tokenizer-files.ts";

/**
 * Reads `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja`. `"tool_prompt": "names"` in
 * the configuration selects the short list of tools.
 * @throws ModelError when a file cannot be read or there is no template at all.
 */
export async function loadRenderer(
  folder: string,
  options: RendererOptions = {},
): Promise<Renderer> {
  const { tokenizer, config } = await readTokenizerFiles(folder);
  const text = createTokenizer(tokenizer, join(folder, "tokenizer.json"));
  return chooseRenderer(text, config, options, join(folder, "tokenizer_config.json"));
}

/**
 * The renderer for the tokenizer and the template in a GGUF file's metadata.
 * @throws ModelError when they are missing or not supported.
 */
export function loadGgufRenderer(
  metadata: Readonly<Record<string, unknown>>,
  source: string,
  options: RendererOptions = {},
): Renderer {
  const { tokenizer, config } = readGgufTokenizer(metadata, source);
  return chooseRenderer(createTokenizer(tokenizer, source), config, options, source);
}
