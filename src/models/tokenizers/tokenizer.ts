/** Text to ids and back with a `tokenizer.json`; special tokens only where requested. */
import { Tokenizer as HubTokenizer } from "@huggingface/tokenizers";
import { ModelError } from "../../core/errors.ts";
import { createByteDecoder, isByteLevel } from "./byte-decoder.ts";
import { createTokenBound, type TokenBound } from "./token-bound.ts";
import { TokenizerThread } from "./tokenizer-thread.ts";
import {
  isWord,
  readControlTokens,
  type ControlTokens,
  type TokenizerFile,
} from "./control-tokens.ts";

interface PreTokenizer {
  readonly type?: unknown;
  readonly prepend_scheme?: unknown;
  readonly pretokenizers?: readonly PreTokenizer[];
}

const mark = "\u2581";

function isFirst({ type, prepend_scheme }: PreTokenizer): boolean {
  return type === "Metaspace" && prepend_scheme === "first";
}

function withoutPrefix(part: PreTokenizer): PreTokenizer {
  if (isFirst(part)) return { ...part, prepend_scheme: "never" };
  return part.pretokenizers === undefined
    ? part
    : { ...part, pretokenizers: part.pretokenizers.map(withoutPrefix) };
}

/** A `tokenizer.json` that prepends nothing, and what it would have had for a text that begins the input. */
function takeSpacePrefix<T extends object>(
  json: T,
): { readonly json: T; readonly atStart: (text: string) => string } {
  const { pre_tokenizer: part } = json as { pre_tokenizer?: PreTokenizer | null };
  const parts = part?.pretokenizers ?? (part ? [part] : []);
  if (!part || !parts.some(isFirst)) return { json, atStart: (text) => text };
  return {
    json: { ...json, pre_tokenizer: withoutPrefix(part) },
    atStart: (text) =>
      text === "" || text.startsWith(" ") || text.startsWith(mark) ? text : ` ${text}`,
  };
}

/** `Digits` splits at every Unicode number (3, ٣, ½, Ⅷ), as in Hugging Face's tokenizers; the library knows 0 to 9. */
function cutUnicodeDigits(tokenizer: object): object {
  const { pre_tokenizer: part } = tokenizer as { pre_tokenizer?: unknown };
  return part === undefined ? tokenizer : { ...tokenizer, pre_tokenizer: rewrite(part) };
}

function rewrite(part: unknown): unknown {
  if (typeof part !== "object" || part === null) return part;
  const {
    type,
    pretokenizers,
    individual_digits: single,
  } = part as {
    type?: unknown;
    pretokenizers?: readonly unknown[];
    individual_digits?: unknown;
  };
  if (type === "Sequence") return { ...part, pretokenizers: (pretokenizers ?? []).map(rewrite) };
  if (type !== "Digits") return part;
  const pattern = { Regex: single === true ? "\\p{N}" : "\\p{N}+" };
  return { type: "Split", pattern, behavior: "Isolated", invert: false };
}

/** The used part of the library's class; its own types do not resolve under `nodenext`. */
interface LibraryTokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  decode(
    ids: number[],
    options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean },
  ): string;
  token_to_id(token: string): number | undefined;
}

export interface TextTokenizer {
  /** Plain text: what looks like a special token is encoded as ordinary characters. */
  encode(text: string): number[];
  /** What to encode for a text that begins the input: some tokenizers have a space before its first word. */
  atStart(text: string): string;
  /** Special tokens appear as their text. */
  decode(ids: ArrayLike<number>): string;
  /** @throws ModelError when the vocabulary has no such token. */
  special(token: string): number;
  /** The added tokens: what a template may write and a message may not. */
  readonly controls: ControlTokens;
  /** As `encode`, in another thread where the text is long. */
  encodeLater(text: string, signal: AbortSignal): Promise<Iterable<number>>;
  /** Maximum UTF-8 bytes that one token represents; Infinity where unknown. */
  readonly longestToken: number;
  /** A lower bound on the number of tokens from `encode`; takes a fraction of its time. */
  minTokens(text: string): number;
}

/** Characters from which on encoding takes longer than handing it to another thread. */
const longText = 8192;

/** Text of ids, character by character: without the library's tidying of spaces before punctuation. */
function createDecoder(json: TokenizerFile): TextTokenizer["decode"] {
  if (isByteLevel(json)) return createByteDecoder(json);
  const full: LibraryTokenizer = new HubTokenizer(json, {});
  const options = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
  return (ids) => (ids.length === 0 ? "" : full.decode(Array.from(ids), options));
}

/** @param json the parsed `tokenizer.json` */
export function createTokenizer(json: object, source: string): TextTokenizer {
  let plain: LibraryTokenizer;
  let decode: TextTokenizer["decode"];
  let controls: ControlTokens;
  const { json: inner, atStart } = takeSpacePrefix(json);
  try {
    controls = readControlTokens(json);
    // Without the others nothing in a user's text can turn into a control token.
    const words = ((json as TokenizerFile).added_tokens ?? []).filter(isWord);
    plain = new HubTokenizer({ ...cutUnicodeDigits(inner), added_tokens: words }, {});
    decode = createDecoder(json);
  } catch (cause) {
    throw new ModelError({
      message: `${source} is not a usable tokenizer.`,
      cause,
      fields: { source },
    });
  }
  const encode = (text: string): number[] =>
    text === "" ? [] : plain.encode(text, { add_special_tokens: false }).ids;
  const thread = new TokenizerThread(json, source);
  // A pass over the whole vocabulary, deferred until there is a long text.
  let known: TokenBound | undefined;
  const bound = (): TokenBound => (known ??= createTokenBound(json));
  return {
    controls,
    encode,
    atStart,
    encodeLater: (text, signal) =>
      text.length < longText ? Promise.resolve(encode(text)) : thread.encode(text, signal),
    get longestToken() {
      return bound().longestToken;
    },
    minTokens: (text) => bound().minTokens(text),
    decode,
    special(token) {
      const id = controls.byText.get(token)?.id ?? plain.token_to_id(token);
      if (id === undefined) {
        throw new ModelError({
          message: `${source} has no token "${token}".`,
          fields: { source, token },
        });
      }
      return id;
    },
  };
}
