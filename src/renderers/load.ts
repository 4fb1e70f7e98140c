/** Finds the renderer of a model: a folder, or the metadata of a GGUF file. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ModelError } from "../core/errors.ts";
import { readJsonFile } from "../util/json-file.ts";
import type { Renderer } from "../core/policy.ts";
import { chooseRenderer, type RendererOptions } from "./choose-renderer.ts";
import { readGgufTokenizer } from "./gguf-tokenizer.ts";
import type { TokenizerConfig } from "./model-files.ts";
import { createTokenizer } from "./tokenizer.ts";

/**
 * Reads `tokenizer.json`, `tokenizer_config.json` and, where there is one, `chat_template.jinja`, which
 * wins over the template in the configuration. `"tool_prompt": "names"` there asks for the short list of
 * tools.
 * @throws ModelError when a file cannot be read or there is no template at all.
 */
export async function loadRenderer(
  folder: string,
  options: RendererOptions = {},
): Promise<Renderer> {
  const tokenizerFile = join(folder, "tokenizer.json");
  const configFile = join(folder, "tokenizer_config.json");
  const config = (await readJson(configFile)) as TokenizerConfig;
  const template = await readOptional(join(folder, "chat_template.jinja"));
  const tokenizer = createTokenizer((await readJson(tokenizerFile)) as object, tokenizerFile);
  const whole = template === null ? config : { ...config, chat_template: template };
  return chooseRenderer(tokenizer, whole, options, configFile);
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

async function readOptional(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new ModelError({ message: `${file} cannot be read.`, cause, fields: { file } });
  }
}

function readJson(file: string): Promise<unknown> {
  return readJsonFile(file).catch((cause: Error) => {
    throw new ModelError({ message: cause.message, cause, fields: { file } });
  });
}
