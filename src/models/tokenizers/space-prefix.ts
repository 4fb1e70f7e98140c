/**
 * SentencePiece's space before the first word (`prepend_scheme` "first": newer files of Mistral 7B, Phi-3, Llama 2).
 * Prompts are encoded in pieces between control tokens, and only a piece at the beginning may get it.
 */

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
export function takeSpacePrefix<T extends object>(
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
