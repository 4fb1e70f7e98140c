/**
 * The tokenizer in a GGUF file's metadata as the `tokenizer.json` and `tokenizer_config.json` that
 * Hugging Face has for the same model. Reads values, not files.
 */
import { ModelError } from "../../core/errors.ts";
import { isWord } from "./control-tokens.ts";
import type { TokenizerConfig } from "./model-files.ts";
import { preTokenizerNames, preTokenizerOf } from "./pre-tokenizers.ts";
import { sentencePieceParts } from "./sentencepiece.ts";

export interface TokenizerFiles {
  /** `tokenizer.json` */
  readonly tokenizer: Readonly<Record<string, unknown>>;
  /** `tokenizer_config.json` */
  readonly config: TokenizerConfig;
}

type Metadata = Readonly<Record<string, unknown>>;

/** llama.cpp's token types other than normal tokens. */
const tokenKinds = { unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/** What is specific to each of the two kinds of tokenizers. */
interface Parts {
  readonly normalizer: object | null;
  readonly preTokenizer: object | null;
  readonly postProcessor: object | null;
  readonly decoder: object;
  readonly model: object;
  /** Whether encoding adds the beginning-of-sequence token when the file does not say. */
  readonly addsBos: boolean;
}

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
    return isTextList(value) ? value : refuse(`"tokenizer.ggml.${key}" is not a list of texts`);
  };
  const tokens = list("tokens");
  const kinds = of("token_type") as readonly number[] | undefined;
  const vocab: Record<string, number> = {};
  const added: object[] = [];
  const unjoined = new Set<string>();
  for (const [id, content] of tokens.entries()) {
    const kind = kinds?.[id];
    if (kind === tokenKinds.control || kind === tokenKinds.userDefined) {
      const special = kind === tokenKinds.control;
      const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
      added.push({ id, content, ...flags, special });
      // A run of spaces is found only after they are replaced.
      if (isWord({ id, content, special })) vocab[content] = id;
    } else if (kind !== tokenKinds.unused) vocab[content] = id;
    if (kind === tokenKinds.unknown || kind === tokenKinds.byte) unjoined.add(content);
  }
  const textOf = (name: string): string | undefined => {
    const id = of(`${name}_token_id`);
    return typeof id === "number" ? tokens[id] : undefined;
  };
  const byteLevelParts = (): Parts => {
    const split = preTokenizerOf(of("pre"));
    if (split === undefined) {
      return refuse(
        `the pre-tokenizer ${JSON.stringify(of("pre"))} is not supported; supported: ${preTokenizerNames.join(", ")}`,
      );
    }
    return { ...split, ...byteLevel(vocab, list("merges"), split.ignoreMerges) };
  };
  const joinedParts = (): Parts => {
    const scores = of("scores");
    if (!Array.isArray(scores)) return refuse('"tokenizer.ggml.scores" is not a list of numbers');
    for (const key of ["remove_extra_whitespaces", "precompiled_charsmap"])
      if (of(key) !== undefined && of(key) !== false)
        refuse(`"tokenizer.ggml.${key}" changes text before it is cut, which is not supported`);
    const addsSpace = of("add_space_prefix") !== false;
    const unknown = textOf("unknown");
    const parts = sentencePieceParts({ vocab, scores, unjoined, unknown, addsSpace });
    return { ...parts, preTokenizer: null, postProcessor: null, addsBos: true };
  };
  const parts =
    of("model") === "gpt2"
      ? byteLevelParts()
      : of("model") === "llama"
        ? joinedParts()
        : refuse(
            `the tokenizer ${JSON.stringify(of("model"))} is not supported; supported: "gpt2" (byte-level BPE), "llama" (SentencePiece)`,
          );
  const bos = textOf("bos");
  const addsBos = bos !== undefined && (of("add_bos_token") ?? parts.addsBos) === true;
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: added,
      normalizer: parts.normalizer,
      pre_tokenizer: parts.preTokenizer,
      post_processor: addsBos ? startingWith(bos, of("bos_token_id")) : parts.postProcessor,
      decoder: parts.decoder,
      model: parts.model,
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

function byteLevel(
  vocab: Readonly<Record<string, number>>,
  merges: readonly string[],
  ignoreMerges: boolean,
): Pick<Parts, "postProcessor" | "decoder" | "model"> {
  const bytes = { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true };
  return {
    postProcessor: bytes,
    decoder: bytes,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: ignoreMerges,
      vocab,
      merges,
    },
  };
}

/** Prepends the token to every text, where special tokens are requested. */
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
