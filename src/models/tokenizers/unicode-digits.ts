/**
 * `Digits` in a `tokenizer.json` as Hugging Face's own tokenizers split them: at every Unicode number
 * (3, ٣, ½, Ⅷ). The library used here knows only 0 to 9.
 */
export function cutUnicodeDigits(tokenizer: object): object {
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
