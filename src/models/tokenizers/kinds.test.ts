/** The kinds of tokenizers that families have, against the PyPI package tokenizers; fixtures by `scripts/fixtures/make_tokenizers.py`. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { buildTokens, encodeNow, markup } from "../renderers/token-builder.ts";
import { readGgufTokenizer } from "./gguf-tokenizer.ts";
import { preTokenizerName } from "./pre-tokenizers.ts";
import { createTokenizer } from "./tokenizer.ts";

interface Encoded {
  readonly text: string;
  readonly ids: readonly number[];
  readonly decoded: string;
}

const root = new URL("../../../test/fixtures/tokenizers/", import.meta.url);

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

it.each([
  ["tekken", "tekken"],
  ["o200k", "gpt-4o"],
])("names %s as GGUF files do", (file, name) => {
  const { tokenizer } = JSON.parse(readFileSync(new URL(`${file}.json`, root), "utf8")) as {
    tokenizer: object;
  };
  expect(preTokenizerName(tokenizer)).toBe(name);
});

it("has Gemma's runs of spaces and HTML tags as words, not as tokens of a format", () => {
  const tokens = [
    "<unk>",
    "<s>",
    "a",
    "\u2581",
    "\n",
    "\n\n",
    "\n\n\n",
    "\u2581\u2581",
    "<x>",
    "<",
    "x",
    ">",
    "<td>",
  ];
  const runs = new Set(["\n\n", "\n\n\n", "\u2581\u2581", "<x>", "<td>"]);
  const { tokenizer } = readGgufTokenizer(
    {
      "tokenizer.ggml.model": "llama",
      "tokenizer.ggml.tokens": tokens,
      "tokenizer.ggml.scores": tokens.map((token, id) => (runs.has(token) ? 0 : -id)),
      "tokenizer.ggml.token_type": tokens.map((token, id) =>
        runs.has(token) ? 4 : id === 0 ? 2 : id === 1 ? 3 : 1,
      ),
      "tokenizer.ggml.bos_token_id": 1,
      "tokenizer.ggml.unknown_token_id": 0,
      "tokenizer.ggml.add_space_prefix": false,
    },
    "gemma",
  );
  const ours = createTokenizer(tokenizer, "gemma");
  // As Gemma's own tokenizer: the longest run there is.
  expect(ours.encode("a\n\na\n\n\n  a\n")).toEqual([2, 5, 2, 6, 7, 2, 4]);
  expect(ours.encode("<td>a")).toEqual([12, 2]);
  // Others stay out of plain text.
  expect(ours.encode("<x>")).toEqual([9, 10, 11]);
  expect(encodeNow(ours, buildTokens(ours, [markup("<s>a\n\n<x>")]))).toEqual([1, 2, 5, 8]);
});
