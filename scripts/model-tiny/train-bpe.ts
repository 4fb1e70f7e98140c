/**
 * A byte-pair encoding (arXiv:1508.07909) over bytes, written as a Hugging Face `tokenizer.json`.
 * Texts are cut at digits only, which stay single; so whole phrases that always recur become one
 * token, and a conversation is short.
 */

/** GPT-2's printable stand-ins for the 256 bytes. */
export function byteAlphabet(): readonly string[] {
  const printable = (b: number): boolean =>
    (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, b) => String.fromCodePoint(printable(b) ? b : next++));
}

/** @returns merges in the order they were learned. */
export function learnMerges(texts: readonly string[], amount: number): readonly [string, string][] {
  const alphabet = byteAlphabet();
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const part of text.split(/(\d)/)) {
      if (part !== "") counts.set(part, (counts.get(part) ?? 0) + 1);
    }
  }
  const words = [...counts].map(([word, count]) => ({
    symbols: Array.from(Buffer.from(word), (byte) => alphabet[byte]!),
    count,
  }));
  const merges: [string, string][] = [];
  while (merges.length < amount) {
    const best = mostFrequentPair(words);
    if (best === undefined) break;
    merges.push(best);
    for (const word of words) word.symbols = merge(word.symbols, best);
  }
  return merges;
}

function mostFrequentPair(
  words: readonly { symbols: readonly string[]; count: number }[],
): [string, string] | undefined {
  const pairs = new Map<string, { pair: [string, string]; count: number }>();
  for (const { symbols, count } of words) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      const pair: [string, string] = [symbols[i]!, symbols[i + 1]!];
      const key = pair.join(" ");
      const entry = pairs.get(key) ?? { pair, count: 0 };
      entry.count += count;
      pairs.set(key, entry);
    }
  }
  // Ties by name, so that the result does not depend on the order of the texts.
  return [...pairs].toSorted(([ka, a], [kb, b]) => b.count - a.count || (ka < kb ? -1 : 1))[0]?.[1]
    .pair;
}

function merge(symbols: readonly string[], [left, right]: readonly [string, string]): string[] {
  const merged: string[] = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) {
      merged.push(left + right);
      i += 1;
    } else {
      merged.push(symbols[i]!);
    }
  }
  return merged;
}

/** The JSON of a tokenizer with `special` tokens at the end of the vocabulary. */
export function tokenizerJson(
  merges: readonly [string, string][],
  special: readonly string[],
): object {
  const tokens = [...byteAlphabet(), ...merges.map(([a, b]) => a + b)];
  const added = special.map((content, i) => ({
    id: tokens.length + i,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Digits", individual_digits: true },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: false },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: merges.map((pair) => pair.join(" ")),
    },
  };
}
