/** Reads what a model folder has for its tokenizer. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ModelError } from "../../core/errors.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import { checkFile } from "../../util/files/regular-file.ts";
import type { TokenizerFiles } from "./gguf-tokenizer.ts";

/**
 * `tokenizer.json`, `tokenizer_config.json` and, where there is one, `chat_template.jinja`, which wins
 * over the template in the configuration.
 * @throws ModelError when a file cannot be read.
 */
export async function readTokenizerFiles(folder: string): Promise<TokenizerFiles> {
  const config = (await readJson(
    join(folder, "tokenizer_config.json"),
  )) as TokenizerFiles["config"];
  const tokenizer = (await readJson(join(folder, "tokenizer.json"))) as TokenizerFiles["tokenizer"];
  const template = await readOptional(join(folder, "chat_template.jinja"));
  return {
    tokenizer,
    config: template === null ? config : { ...config, chat_template: template },
  };
}

async function readOptional(file: string): Promise<string | null> {
  try {
    await checkFile(file);
    return await readFile(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
    const reason = (cause as Error).message;
    throw new ModelError({
      message: `${file} cannot be read: ${reason}.`,
      cause,
      fields: { file },
    });
  }
}

function readJson(file: string): Promise<unknown> {
  return readJsonFile(file).catch((cause: Error) => {
    throw new ModelError({ message: cause.message, cause, fields: { file } });
  });
}
