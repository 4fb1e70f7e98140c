/**
 * A lower bound on a text's number of tokens, from its bytes alone. A token of n bytes has n times 1/n;
 * each of its bytes is counted here with 1 over the length of the longest token that has this byte, which
 * is no more.
 */
import type { TokenizerFile } from "./control-tokens.ts";
import { byteAlphabet, isByteLevel } from "./byte-decoder.ts";

/** Bytes of text that normalization may reduce to one. */
const maxJoined = 4;
const joiningForms = new Set(["NFC", "NFD", "NFKC", "NFKD"]);

/** Maximum number of bytes of a text that become one; Infinity where unknown. */
function shrinkage(normalizer: unknown): number {
  if (normalizer === null || normalizer === undefined) return 1;
  const { type, normalizers } = normalizer as { type?: unknown; normalizers?: unknown };
  if (type === "Sequence" && Array.isArray(normalizers))
    return normalizers.reduce((product: number, part) => product * shrinkage(part), 1);
  return typeof type === "string" && joiningForms.has(type) ? maxJoined : Infinity;
}

export interface TokenBound {
  /** Maximum bytes that one token represents; Infinity where unknown. */
  readonly longestToken: number;
  /** A lower bound on the number of tokens of `text`; 0 where unknown. */
  minTokens(text: string): number;
}

/** The bound for a `tokenizer.json`. */
export function createTokenBound(json: object): TokenBound {
  const file = json as TokenizerFile & {
    readonly normalizer?: unknown;
    readonly pre_tokenizer?: unknown;
  };
  const shrinks = shrinkage(file.normalizer);
  // Other kinds have unknown tokens of any length.
  const cutting = JSON.stringify(file.pre_tokenizer ?? null);
  const drops = /"Removed"|Whitespace|Bert|CharDelimiter/.test(cutting);
  if (!isByteLevel(file) || !Number.isFinite(shrinks) || drops)
    return { longestToken: Infinity, minTokens: () => 0 };
  const longest = new Float64Array(256);
  const alphabet = byteAlphabet();
  const vocabulary = file.model?.vocab ?? {};
  // A byte that is not a token by itself can be dropped.
  for (const [letter, byte] of alphabet)
    longest[byte] = Object.hasOwn(vocabulary, letter) ? 1 : Infinity;
  // Every letter of the alphabet is one unit of a text.
  for (const word of Object.keys(vocabulary)) {
    for (let i = 0; i < word.length; i++) {
      const byte = alphabet.get(word.charAt(i));
      if (byte !== undefined && longest[byte]! < word.length) longest[byte] = word.length;
    }
  }
  const shares = longest.map((length) => 1 / (length * shrinks));
  return {
    longestToken: Math.max(...longest) * shrinks,
    minTokens(text) {
      const bytes = Buffer.from(text, "utf8");
      let sum = 0;
      for (let i = 0; i < bytes.length; i++) sum += shares[bytes[i]!]!;
      // Rounding must not count a token of many parts as more than one.
      return Math.floor(sum * (1 - 1e-9));
    },
  };
}
