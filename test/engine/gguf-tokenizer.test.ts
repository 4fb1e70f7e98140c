/** Tokenizers from GGUF metadata against the `tokenizer.json` that the same models are published with. */
import { describe, expect, it } from "vitest";
import { loadGgufRenderer } from "../../src/renderers/load.ts";
import { readGgufTokenizer } from "../../src/renderers/gguf-tokenizer.ts";
import { createTokenizer } from "../../src/renderers/tokenizer.ts";
import { loadReal, type RealModel } from "../renderers/real-tokenizers.ts";

interface HubTokenizer {
  readonly added_tokens: readonly { id: number; content: string; special: boolean }[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (string | readonly [string, string])[];
  };
}

/** What llama.cpp's converter writes for a published tokenizer. */
function metadataOf(model: RealModel, pre: string): Record<string, unknown> {
  const { json, config } = loadReal(model);
  const file = json as HubTokenizer;
  const tokens: string[] = [];
  const kinds: number[] = [];
  for (const [token, id] of Object.entries(file.model.vocab)) {
    tokens[id] = token;
    kinds[id] = 1;
  }
  for (const { id, content, special } of file.added_tokens) {
    tokens[id] = content;
    kinds[id] = special ? 3 : 4;
  }
  // Matrices are often padded to a round number of rows.
  const padding = [tokens.length, tokens.length + 1];
  for (const id of padding) {
    tokens[id] = `[PAD${id}]`;
    kinds[id] = 5;
  }
  return {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": pre,
    "tokenizer.ggml.tokens": tokens,
    "tokenizer.ggml.token_type": kinds,
    "tokenizer.ggml.merges": file.model.merges.map((merge) =>
      typeof merge === "string" ? merge : merge.join(" "),
    ),
    "tokenizer.ggml.eos_token_id": tokens.indexOf((config.eos_token as string) ?? ""),
    ...(typeof config.bos_token === "string"
      ? { "tokenizer.ggml.bos_token_id": tokens.indexOf(config.bos_token) }
      : {}),
    "tokenizer.chat_template": config.chat_template,
  };
}

const texts = [
  "Hello, world!",
  " leading and trailing ",
  "two  spaces,   three\t\ttabs \r\n\r\n line ends\n\n\n",
  "1 22 333 4444 55555 3.14159 1,000,000",
  "don't I'LL we'Ve they'd it's",
  "ünïcödé, e\u0301 and é, İstanbul, ﬁ",
  "日本語のテキスト 中文 한국어 العربية हिन्दी",
  "🙂👍🏽 family: 👨‍👩‍👧‍👦",
  'function f(x) {\n  return x ** 2; // "squared"\n}',
  "[PAD151665] <|im_start|>user <|eot_id|> <tool_call>",
  "a_b-c/d\\e:f;g|h&i%j$k#l@m!n?o",
  "\u0000\u200b\ufeff",
];

const models: readonly (readonly [RealModel, string])[] = [
  ["llama3_2", "llama-bpe"],
  ["qwen2_5", "qwen2"],
  ["qwen3", "qwen2"],
];

describe.each(models)("%s from GGUF metadata", (model, pre) => {
  const metadata = metadataOf(model, pre);
  const real = loadReal(model).tokenizer;

  it("encodes and decodes as the published tokenizer does", () => {
    const { tokenizer } = readGgufTokenizer(metadata, model);
    const ours = createTokenizer(tokenizer, model);
    for (const text of texts) {
      const ids = real.encode(text);
      expect(ours.encode(text), text).toEqual(ids);
      expect(ours.decode(ids)).toBe(real.decode(ids));
    }
    expect([...ours.controls.byText.keys()].toSorted()).toEqual(
      [...real.controls.byText.keys()].toSorted(),
    );
  });

  it("renders with the template of the file", () => {
    const renderer = loadGgufRenderer(metadata, model);
    const { tokens } = renderer.render([{ role: "user", content: "Hi" }]);
    expect(real.decode(tokens)).toContain("Hi");
    expect(renderer.stop.tokenIds.length).toBeGreaterThan(0);
  });
});

describe("metadata that cannot be used", () => {
  const metadata = metadataOf("qwen2_5", "qwen2");
  it.each([
    [
      "tokenizer.ggml.model",
      "llama",
      /"llama" \(SentencePiece\) is not supported; supported: "gpt2"/,
    ],
    [
      "tokenizer.ggml.pre",
      "default",
      /pre-tokenizer "default" is not supported; supported: gpt-2, smollm/,
    ],
    ["tokenizer.ggml.merges", undefined, /tokenizer.ggml.merges" is no list/],
    ["tokenizer.chat_template", undefined, /no chat template/],
  ])("is refused: %s = %s", (key, value, message) => {
    expect(() => loadGgufRenderer({ ...metadata, [key]: value }, "x.gguf")).toThrow(message);
  });
});
