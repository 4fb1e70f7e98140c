import type { Vocabulary } from "../../src/core/vocabulary.ts";
import { isAllowed, TokenMatcher, type TokenGrammar } from "../../src/grammar/token-masks.ts";
import { createRandom } from "../../src/util/random.ts";

/** Every byte, some words, and one token that ends a text. */
export function byteVocabulary(
  words: readonly string[],
  added: readonly string[] = [],
): Vocabulary {
  const parts = [
    ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
    ...words.map((word) => Buffer.from(word)),
  ];
  const texts = [...added, "<end>"];
  const offsets = new Uint32Array(parts.length + texts.length + 1);
  for (const [i, part] of parts.entries()) offsets[i + 1] = offsets[i]! + part.length;
  offsets.fill(offsets[parts.length]!, parts.length + 1);
  return {
    size: parts.length + texts.length,
    bytes: Buffer.concat(parts),
    offsets,
    added: new Map(texts.map((text, i) => [text, parts.length + i])),
  };
}

export interface Walk {
  readonly text: string;
  readonly ended: boolean;
}

/** A completion sampled uniformly from what is allowed. */
export function walk(grammar: TokenGrammar, seed: number, maxTokens: number): Walk {
  const { bytes, offsets, added } = grammar.vocabulary;
  const end = added.get("<end>")!;
  const random = createRandom(seed);
  const matcher = new TokenMatcher(grammar, { stopTokenIds: [end], maxTokens });
  const parts: Uint8Array[] = [];
  for (let i = 0; i < maxTokens; i++) {
    const mask = matcher.mask()!;
    if (mask.count === 0) break;
    let left = Math.floor(random() * mask.count);
    let token = 0;
    while (!isAllowed(mask, token) || left-- > 0) token++;
    if (token === end) return { text: Buffer.concat(parts).toString(), ended: true };
    matcher.accept(token);
    parts.push(bytes.subarray(offsets[token], offsets[token + 1]));
  }
  return { text: Buffer.concat(parts).toString(), ended: false };
}
