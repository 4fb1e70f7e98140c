/** Finds the renderer of a model folder. */
import { join } from "node:path";
import { ModelError } from "../core/errors.ts";
import { readJsonFile } from "../util/json-file.ts";
import type { Renderer } from "../core/policy.ts";
import { createChatmlRenderer } from "./chatml.ts";
import { createTokenizer } from "./tokenizer.ts";

/**
 * Reads `tokenizer.json`, and `tokenizer_config.json` for the family. Recognised are ChatML templates;
 * `"tool_prompt": "names"` there asks for the short list of tools.
 * @throws ModelError
 */
export async function loadRenderer(folder: string): Promise<Renderer> {
  const tokenizerFile = join(folder, "tokenizer.json");
  const configFile = join(folder, "tokenizer_config.json");
  const config = (await readJson(configFile)) as { chat_template?: unknown; tool_prompt?: unknown };
  if (typeof config.chat_template !== "string" || !config.chat_template.includes("<|im_start|>")) {
    throw new ModelError({
      message: `${configFile}: the chat template is not ChatML, the only family supported so far.`,
      fields: { file: configFile },
    });
  }
  const tokenizer = createTokenizer((await readJson(tokenizerFile)) as object, tokenizerFile);
  return createChatmlRenderer(tokenizer, {
    tools: config.tool_prompt === "names" ? "names" : "schemas",
  });
}

function readJson(file: string): Promise<unknown> {
  return readJsonFile(file).catch((cause: Error) => {
    throw new ModelError({ message: cause.message, cause, fields: { file } });
  });
}
