/**
 * Ids to text for byte-level vocabularies (GPT-2's alphabet: one letter per byte). Bytes are looked up
 * and joined, as the library does, but without its passes over token strings.
 */
import type { TokenizerFile } from "./control-tokens.ts";

/** The bytes that GPT-2 writes as themselves; all others are mapped to U+0100 and above. */
function isPrintable(byte: number): boolean {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

export function byteAlphabet(): ReadonlyMap<string, number> {
  const alphabet = new Map<string, number>();
  let moved = 256;
  for (let byte = 0; byte < 256; byte++) {
    alphabet.set(String.fromCharCode(isPrintable(byte) ? byte : moved++), byte);
  }
  return alphabet;
}

function isVocabulary(value: unknown): value is Readonly<Record<string, number>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isByteLevel(file: TokenizerFile): boolean {
  return file.decoder?.type === "ByteLevel" && isVocabulary(file.model?.vocab);
}

/** Ids that the vocabulary lacks are skipped, as is padding beyond it. */
export function createByteDecoder(file: TokenizerFile): (ids: ArrayLike<number>) => string {
  const alphabet = byteAlphabet();
  const vocabulary = isVocabulary(file.model?.vocab) ? file.model.vocab : {};
  const words: string[] = [];
  for (const [word, id] of Object.entries(vocabulary)) words[id] = word;
  const bytes: (Uint8Array | undefined)[] = [];
  const encoder = new TextEncoder();
  for (const { id, content } of file.added_tokens ?? []) bytes[id] = encoder.encode(content);

  const nothing = new Uint8Array(0);
  const bytesOf = (id: number): Uint8Array => {
    const word = words[id] ?? "";
    const own = Array.from(word, (letter) => alphabet.get(letter));
    const known = own.filter((byte) => byte !== undefined);
    // A word that is not in the alphabet is used unchanged.
    return known.length === own.length ? Uint8Array.from(known) : encoder.encode(word);
  };
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return (ids) => {
    const parts: Uint8Array[] = [];
    let length = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] as number;
      // Only ids of the vocabulary are cached: ids may come from any client.
      const part = bytes[id] ?? (words[id] === undefined ? nothing : (bytes[id] = bytesOf(id)));
      parts.push(part);
      length += part.length;
    }
    const all = new Uint8Array(length);
    let end = 0;
    for (const part of parts) {
      all.set(part, end);
      end += part.length;
    }
    return decoder.decode(all);
  };
}
