/** What is compared when texts are nearly the same: the set of three neighboring words in them. */

// Scripts without spaces between words: a character is a word.
const words =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu;

/** A text as a set of shingles. */
export interface Shingles {
  /** 32-bit hashes, each once. */
  readonly hashes: Uint32Array;
  /** Its numbers, in order: another number is another task. */
  readonly numbers: string;
}

/** FNV-1a over UTF-16 units. */
function hashText(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

const width = 3;

export function shinglesOf(normalized: string): Shingles {
  const parts = normalized.match(words) ?? [];
  const partHashes = parts.map((part) => hashText(part));
  const hashes = new Set<number>();
  for (let i = 0; i <= Math.max(0, parts.length - width); i++) {
    let hash = 0;
    for (let j = i; j < Math.min(i + width, parts.length); j++) {
      hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) + (partHashes[j] as number);
    }
    hashes.add(hash >>> 0);
  }
  return {
    hashes: Uint32Array.from(hashes),
    numbers: parts.filter((part) => /^\p{N}/u.test(part)).join(" "),
  };
}

/** Shared part of two sets: the size of their intersection by that of their union. */
export function jaccard(a: Uint32Array, b: ReadonlySet<number>): number {
  let shared = 0;
  for (const hash of a) if (b.has(hash)) shared += 1;
  return shared / (a.length + b.size - shared);
}
