/** The kinds of tokenizers that families have, against the PyPI package tokenizers; fixtures by `scripts/fixtures/make_tokenizers.py`. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildTokens, encodeNow, markup } from "../renderers/token-builder.ts";
import { createTokenizer } from "./tokenizer.ts";

interface Encoded {
  readonly text: string;
  readonly ids: readonly number[];
  readonly decoded: string;
}

const root = new URL("../../test/fixtures/tokenizers/", import.meta.url);

describe.each(readdirSync(root))("%s", (file) => {
  const { tokenizer, texts, chats } = JSON.parse(readFileSync(new URL(file, root), "utf8")) as {
    tokenizer: object;
    texts: readonly Encoded[];
    chats: readonly Encoded[];
  };
  const ours = createTokenizer(tokenizer, file);

  it.each(texts)("encodes $text", ({ text, ids, decoded }) => {
    expect(ours.encode(ours.atStart(text))).toEqual(ids);
    expect(ours.decode(ids)).toBe(decoded);
  });

  it.each(chats)("encodes the template's $text", ({ text, ids, decoded }) => {
    expect(
      encodeNow(
        ours,
        buildTokens(ours, [markup(text.startsWith("the") ? ours.atStart(text) : text)]),
      ),
    ).toEqual(ids);
    expect(ours.decode(ids)).toBe(decoded);
  });
});
