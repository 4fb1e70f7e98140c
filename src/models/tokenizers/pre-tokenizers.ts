/**
 * How byte-level models cut text before BPE: llama.cpp's names (`tokenizer.ggml.pre`) and the parts of a
 * `tokenizer.json` that do the same. Patterns are those of the models' own `tokenizer.json`.
 */

export interface PreTokenizer {
  readonly normalizer: object | null;
  readonly preTokenizer: object;
  /** A piece that is in the vocabulary is one token, whatever the merges say. */
  readonly ignoreMerges: boolean;
  /** Whether encoding adds the beginning-of-sequence token when the file does not say. */
  readonly addsBos: boolean;
}

const byteLevel = (useRegex: boolean): object => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: useRegex,
});

function split(pattern: string): object {
  const byPattern = {
    type: "Split",
    pattern: { Regex: pattern },
    behavior: "Isolated",
    invert: false,
  };
  return { type: "Sequence", pretokenizers: [byPattern, byteLevel(false)] };
}

/** Splits by a pattern whose only difference between families is how many digits stay together. */
function splitBy(digits: string): object {
  return split(
    `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
  );
}

/** Also between small and capital letters; `ending` is what a word may end with. */
function splitWords(ending: string, digits: string): object {
  const [capital, small] = [
    "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]",
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]",
  ];
  const word = (letters: string): string => `[^\\r\\n\\p{L}\\p{N}]?${letters}${ending}`;
  return split(
    `${word(`${capital}*${small}+`)}|${word(`${capital}+${small}*`)}|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
  );
}

const plain = { normalizer: null, ignoreMerges: false, addsBos: false };
const gpt2: PreTokenizer = { ...plain, preTokenizer: byteLevel(true) };
const smollm: PreTokenizer = {
  ...plain,
  preTokenizer: {
    type: "Sequence",
    pretokenizers: [{ type: "Digits", individual_digits: true }, byteLevel(true)],
  },
};
const llama3: PreTokenizer = {
  normalizer: null,
  preTokenizer: splitBy("\\p{N}{1,3}"),
  ignoreMerges: true,
  addsBos: true,
};
const qwen2: PreTokenizer = {
  ...plain,
  normalizer: { type: "NFC" },
  preTokenizer: splitBy("\\p{N}"),
};

/** Mistral's, from Nemo on. */
const tekken: PreTokenizer = {
  normalizer: null,
  preTokenizer: splitWords("", "\\p{N}"),
  ignoreMerges: true,
  addsBos: true,
};
/** Phi-4-mini's. */
const gpt4o: PreTokenizer = {
  ...plain,
  preTokenizer: splitWords("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "\\p{N}{1,3}"),
};

const byName: Readonly<Record<string, PreTokenizer>> = {
  "gpt-2": gpt2,
  smollm,
  "llama-bpe": llama3,
  llama3,
  "llama-v3": llama3,
  qwen2,
  "deepseek-r1-qwen": qwen2,
  tekken,
  "gpt-4o": gpt4o,
  // OLMo 2
  dbrx: { ...plain, preTokenizer: splitBy("\\p{N}{1,3}") },
};

export const preTokenizerNames: readonly string[] = Object.keys(byName);

export function preTokenizerOf(name: unknown): PreTokenizer | undefined {
  return typeof name === "string" && Object.hasOwn(byName, name) ? byName[name] : undefined;
}

/** The name for the parts of a `tokenizer.json`, independent of key order; undefined when there is none. */
export function preTokenizerName(file: { readonly pre_tokenizer?: unknown }): string | undefined {
  const wanted = fingerprint(file.pre_tokenizer);
  return preTokenizerNames.find((name) => fingerprint(byName[name]?.preTokenizer) === wanted);
}

/** Only what decides where text is split: offsets are reported, but do not matter. */
function fingerprint(part: unknown): string {
  return JSON.stringify(part, (key, value: unknown) => {
    if (key === "trim_offsets") return undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
