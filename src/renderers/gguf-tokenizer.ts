/**
 * The tokenizer in a GGUF file's metadata as the `tokenizer.json` and `tokenizer_config.json` that
 * Hugging Face has for the same model. Reads values, not files.
 */
import { ModelError } from "../core/errors.ts";
import type { TokenizerConfig } from "./model-files.ts";
import { preTokenizerNames, preTokenizerOf } from "./pre-tokenizers.ts";

export interface TokenizerFiles {
  /** `tokenizer.json` */
  readonly tokenizer: Readonly<Record<string, unknown>>;
  /** `tokenizer_config.json` */
  readonly config: TokenizerConfig;
}

type Metadata = Readonly<Record<string, unknown>>;

/** llama.cpp's kinds of tokens that are not plain parts of words. */
const tokenKinds = { control: 3, userDefined: 4, unused: 5 } as const;

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** @throws ModelError naming what is missing or not supported. */
export function readGgufTokenizer(metadata: Metadata, source: string): TokenizerFiles {
  const refuse = (what: string): never => {
    throw new ModelError({
      message: `${source}: ${what}.`,
      hint: "Use the model's Hugging Face folder; its tokenizer.json says more.",
      fields: { source },
    });
  };
  const of = (key: string): unknown => metadata[`tokenizer.ggml.${key}`];
  const list = (key: string): readonly string[] => {
    const value = of(key);
    return isTextList(value) ? value : refuse(`"tokenizer.ggml.${key}" is no list of texts`);
  };
  if (of("model") !== "gpt2") {
    const kind = of("model") === "llama" ? '"llama" (SentencePiece)' : JSON.stringify(of("model"));
    refuse(`the tokenizer ${kind} is not supported; supported: "gpt2" (byte-level BPE)`);
  }
  const split = preTokenizerOf(of("pre"));
  if (split === undefined) {
    refuse(
      `the pre-tokenizer ${JSON.stringify(of("pre"))} is not supported; supported: ${preTokenizerNames.join(", ")}`,
    );
  }
  const tokens = list("tokens");
  const kinds = of("token_type") as readonly number[] | undefined;
  const vocab: Record<string, number> = {};
  const added: object[] = [];
  for (const [id, content] of tokens.entries()) {
    const kind = kinds?.[id];
    if (kind === tokenKinds.control || kind === tokenKinds.userDefined) {
      const special = kind === tokenKinds.control;
      const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
      added.push({ id, content, ...flags, special });
    } else if (kind !== tokenKinds.unused) vocab[content] = id;
  }
  const textOf = (name: string): string | undefined => {
    const id = of(`${name}_token_id`);
    return typeof id === "number" ? tokens[id] : undefined;
  };
  const bos = textOf("bos");
  const addsBos = bos !== undefined && (of("add_bos_token") ?? split?.addsBos) === true;
  const bytes = { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true };
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: added,
      normalizer: split?.normalizer ?? null,
      pre_tokenizer: split?.preTokenizer,
      post_processor: addsBos ? startingWith(bos, of("bos_token_id")) : bytes,
      decoder: bytes,
      model: {
        type: "BPE",
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: split?.ignoreMerges ?? false,
        vocab,
        merges: list("merges"),
      },
    },
    config: {
      tokenizer_class: "PreTrainedTokenizerFast",
      clean_up_tokenization_spaces: false,
      ...withoutUndefined({
        bos_token: bos,
        eos_token: textOf("eos"),
        pad_token: textOf("padding"),
        chat_template: readTemplates(metadata),
      }),
    },
  };
}

/** Puts the token in front of every text, where the reader asks for special tokens. */
function startingWith(token: string, id: unknown): object {
  const single = [
    { SpecialToken: { id: token, type_id: 0 } },
    { Sequence: { id: "A", type_id: 0 } },
  ];
  return {
    type: "TemplateProcessing",
    single,
    pair: [...single, { Sequence: { id: "B", type_id: 1 } }],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

function readTemplates(metadata: Metadata): unknown {
  const template = metadata["tokenizer.chat_template"];
  const toolTemplate = metadata["tokenizer.chat_template.tool_use"];
  if (toolTemplate === undefined) return template;
  return [
    { name: "default", template },
    { name: "tool_use", template: toolTemplate },
  ];
}

function withoutUndefined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
