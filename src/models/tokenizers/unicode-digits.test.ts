import { expect, it } from "vitest";
import { smallTokenizerMetadata } from "../../../test/engine/write-small-model.ts";
import { readGgufTokenizer } from "./gguf-tokenizer.ts";
import { createTokenizer } from "./tokenizer.ts";

/** Without merges but this one, which joins a space and the first byte of ½, ² and Arabic digits. */
function pieces(text: string, individual: boolean): number[][] {
  const metadata: Record<string, unknown> = smallTokenizerMetadata();
  const tokens = metadata["tokenizer.ggml.tokens"] as readonly string[];
  const words = [...tokens, "ĠÂ", "ĠÙ", "12"];
  const kinds = words.map((word) => (word.startsWith("<|") ? 3 : 1));
  const all = {
    ...metadata,
    "tokenizer.ggml.merges": ["Ġ Â", "Ġ Ù", "1 2"],
    "tokenizer.ggml.tokens": words,
    "tokenizer.ggml.token_type": kinds,
  };
  const { tokenizer } = readGgufTokenizer(all, "x");
  const digits = { type: "Digits", individual_digits: individual };
  const bytes = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
  const pre_tokenizer = { type: "Sequence", pretokenizers: [digits, bytes] };
  const { encode } = createTokenizer({ ...tokenizer, pre_tokenizer }, "x");
  return encode(text).map((id) => [...words[id]!].map((letter) => letter.codePointAt(0)!));
}

// As tokenizers 0.22 (Rust): Digits(individual_digits=True).pre_tokenize_str("x ½") cuts before ½.
it.each(["½", "²", "٣"])("cuts before %s, as before any digit", (digit) => {
  expect(pieces(`x ${digit}`, true).map((letters) => letters.length)).toEqual([1, 1, 1, 1]);
});

it("keeps runs of digits together where it is told to", () => {
  expect(pieces("12", false).length).toBe(1);
  expect(pieces("12", true).length).toBe(2);
});
