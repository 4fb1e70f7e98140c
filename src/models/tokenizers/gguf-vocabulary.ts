/** A `tokenizer.json` as the metadata that GGUF files have for it: the inverse of `gguf-tokenizer.ts`. */
import { ModelError } from "../../core/errors.ts";
import { readTemplates, tokenText } from "./model-files.ts";
import type { TokenizerFiles } from "./gguf-tokenizer.ts";
import { preTokenizerName } from "./pre-tokenizers.ts";

/** Numbers are integers; `Int32Array` holds llama.cpp's token types. */
export type VocabularyValue =
  | string
  | boolean
  | readonly string[]
  | Int32Array
  | { readonly uint32: number };

interface TokenizerJson {
  readonly added_tokens?: readonly { id: number; content: string; special?: boolean }[];
  readonly pre_tokenizer?: unknown;
  readonly post_processor?: unknown;
  readonly model?: {
    readonly type?: unknown;
    readonly vocab?: Readonly<Record<string, number>>;
    readonly merges?: readonly (string | readonly [string, string])[];
  };
}

/** llama.cpp's token types. */
const kinds = { normal: 1, control: 3, userDefined: 4, unused: 5 } as const;

/**
 * @param vocabSize rows of the embedding; ids without a token get a name that occurs in no text.
 * @param ends tokens that end a turn, as the renderer has them: those of turns, then that of texts
 * @throws ModelError for a tokenizer that llama.cpp would not understand the same way.
 */
export function writeGgufTokenizer(
  { tokenizer, config }: TokenizerFiles,
  vocabSize: number,
  source: string,
  ends: readonly number[] = [],
): ReadonlyMap<string, VocabularyValue> {
  const refuse = (what: string): never => {
    throw new ModelError({
      message: `${source}: ${what}, so the model cannot be written as GGUF.`,
      hint: "Export a Hugging Face folder, and convert it with llama.cpp's convert_hf_to_gguf.py.",
      fields: { source },
    });
  };
  const file = tokenizer as TokenizerJson;
  const { type, vocab = {}, merges = [] } = file.model ?? {};
  if (type !== "BPE") refuse(`the tokenizer's model is ${JSON.stringify(type)}, not "BPE"`);
  const pre = preTokenizerName(file) ?? refuse("its pre-tokenizer is none that is known by name");
  const tokens = Array.from({ length: vocabSize }, (_, id) => `[PAD${id}]`);
  const types = new Int32Array(vocabSize).fill(kinds.unused);
  const addToken = (id: number, token: string, kind: number): void => {
    if (id >= vocabSize) refuse(`token ${id} is outside of the vocabulary of ${vocabSize}`);
    tokens[id] = token;
    types[id] = kind;
  };
  for (const [token, id] of Object.entries(vocab)) addToken(id, token, kinds.normal);
  const ids = new Map<string, number>();
  for (const { id, content, special } of file.added_tokens ?? []) {
    addToken(id, content, special === true ? kinds.control : kinds.userDefined);
    ids.set(content, id);
  }
  const values = new Map<string, VocabularyValue>([
    ["tokenizer.ggml.model", "gpt2"],
    ["tokenizer.ggml.pre", pre],
    ["tokenizer.ggml.tokens", tokens],
    ["tokenizer.ggml.token_type", types],
    [
      "tokenizer.ggml.merges",
      merges.map((merge) => (typeof merge === "string" ? merge : merge.join(" "))),
    ],
    ["tokenizer.ggml.add_bos_token", addsBos(file, tokenText(config.bos_token))],
  ]);
  for (const [key, token] of [
    ["bos", config.bos_token],
    ["eos", config.eos_token],
    ["padding", config.pad_token],
  ] as const) {
    const id = ids.get(tokenText(token) ?? "");
    if (id !== undefined) values.set(`tokenizer.ggml.${key}_token_id`, { uint32: id });
  }
  const eos = ids.get(tokenText(config.eos_token) ?? "");
  const ofTurns = eos !== undefined && ends.includes(eos) ? ends.slice(0, ends.indexOf(eos)) : ends;
  // llama.cpp's end of a turn, and that of a message that calls tools.
  for (const [i, key] of ["eot", "eom"].entries()) {
    const id = ofTurns[i];
    if (id !== undefined) values.set(`tokenizer.ggml.${key}_token_id`, { uint32: id });
  }
  const templates = readTemplates(config.chat_template);
  if (templates !== null) values.set("tokenizer.chat_template", templates.template);
  if (templates?.toolTemplate !== undefined)
    values.set("tokenizer.chat_template.tool_use", templates.toolTemplate);
  return values;
}

/** Whether encoding adds the beginning-of-sequence token: its post-processor then names it. */
function addsBos({ post_processor: processor }: TokenizerJson, bos: string | undefined): boolean {
  if (bos === undefined) return false;
  const text = JSON.stringify(processor ?? null);
  return text.includes("TemplateProcessing") && text.includes(JSON.stringify(bos));
}
