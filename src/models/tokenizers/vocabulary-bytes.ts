/** The bytes of every token of a `tokenizer.json`. */
import type { Vocabulary } from "../../core/vocabulary.ts";
import { byteAlphabet, isByteLevel } from "./byte-decoder.ts";
import { isWord, type TokenizerFile } from "./control-tokens.ts";

/** Replaces a space in SentencePiece's pieces. */
const space = "\u2581";

function byteLevelBytes(): (word: string) => Uint8Array {
  const alphabet = byteAlphabet();
  return (word) => {
    const own = Array.from(word, (letter) => alphabet.get(letter));
    const known = own.filter((byte) => byte !== undefined);
    return known.length === own.length ? Uint8Array.from(known) : Buffer.from(word, "utf8");
  };
}

function pieceBytes(word: string): Uint8Array {
  const byte = /^<0x([\dA-F]{2})>$/.exec(word)?.[1];
  if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
  return Buffer.from(word.replaceAll(space, " "), "utf8");
}

function hasByteFallback(file: TokenizerFile): boolean {
  return (file.model as { byte_fallback?: unknown } | undefined)?.byte_fallback === true;
}

/**
 * Null for kinds of vocabularies whose tokens do not stand for certain bytes (WordPiece, for example).
 * @param json the parsed `tokenizer.json`
 * @param size of the model's vocabulary, which may be padded
 */
export function readVocabulary(json: object, size: number): Vocabulary | null {
  const file = json as TokenizerFile;
  if (!isByteLevel(file) && !hasByteFallback(file)) return null;
  const bytesOf = isByteLevel(file) ? byteLevelBytes() : pieceBytes;
  const vocab = file.model?.vocab;
  // Unigram models have a list of pieces with scores.
  const words: Iterable<readonly [string, number]> = Array.isArray(vocab)
    ? vocab.map((piece: readonly [string, number], id) => [piece[0], id] as const)
    : Object.entries(vocab as Readonly<Record<string, number>>);
  const formats = (file.added_tokens ?? []).filter((token) => !isWord(token));
  const added = new Map(formats.map(({ id, content }) => [content, id]));
  const own: (Uint8Array | undefined)[] = [];
  for (const [word, id] of words) if (id < size) own[id] = bytesOf(word);
  for (const id of added.values()) own[id] = undefined;
  const offsets = new Uint32Array(size + 1);
  for (let id = 0; id < size; id++) offsets[id + 1] = offsets[id]! + (own[id]?.length ?? 0);
  const bytes = new Uint8Array(offsets[size]!);
  for (const [id, part] of own.entries()) if (part !== undefined) bytes.set(part, offsets[id]);
  return { size, bytes, offsets, added };
}
