/** Tokenizers from GGUF metadata against the `tokenizer.json` that the same models are published with. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadGgufRenderer } from "../../src/models/renderers/load.ts";
import { readGgufTokenizer } from "../../src/models/tokenizers/gguf-tokenizer.ts";
import { createTokenizer } from "../../src/models/tokenizers/tokenizer.ts";
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

interface SentencePieceFixture {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly encoded: readonly { text: string; ids: number[]; decoded: string }[];
}

describe("SentencePiece from GGUF metadata", () => {
  const { metadata, encoded } = JSON.parse(
    readFileSync(new URL("../fixtures/sentencepiece/expected.json", import.meta.url), "utf8"),
  ) as SentencePieceFixture;
  const { tokenizer } = readGgufTokenizer(metadata, "spm.gguf");
  const ours = createTokenizer(tokenizer, "spm.gguf");

  it.each(encoded)("gives $text the ids that SentencePiece gives it", ({ text, ids, decoded }) => {
    expect(ours.encode(text)).toEqual(ids);
    expect(ours.decode(ids)).toBe(decoded);
  });

  it("keeps what a user writes apart from control tokens, and knows those", () => {
    expect([...ours.controls.byText.keys()].toSorted()).toEqual(["</s>", "<s>"]);
    expect(ours.special("</s>")).toBe(2);
    expect(ours.encode("</s>")).not.toContain(2);
  });

  it("renders a conversation with the template of the file", () => {
    const template =
      "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";
    const renderer = loadGgufRenderer({ ...metadata, "tokenizer.chat_template": template }, "spm");
    const { tokens } = renderer.render([{ role: "user", content: "hello</s>" }]);
    expect([tokens[0], [...tokens].filter((id) => id === 2).length]).toEqual([1, 1]);
    expect(ours.decode(tokens)).toBe("<s> [user] hello</s></s> [assistant]");
    expect(renderer.stop.tokenIds).toContain(2);
    expect(renderer.parse(Int32Array.from([...ours.encode("it runs"), 2])).content).toBe("it runs");
  });

  it("puts no space in front where the file says so", () => {
    const spaceless = { ...metadata, "tokenizer.ggml.add_space_prefix": false };
    const { encode, decode } = createTokenizer(
      readGgufTokenizer(spaceless, "spm.gguf").tokenizer,
      "spm.gguf",
    );
    expect(encode(" hello")).toEqual(ours.encode("hello"));
    expect(decode(encode("hello"))).toBe("hello");
  });

  it.each([
    ["scores", undefined, /tokenizer.ggml.scores" is not a list/],
    ["remove_extra_whitespaces", true, /remove_extra_whitespaces" changes text/],
    ["precompiled_charsmap", [1], /precompiled_charsmap" changes text/],
  ])("is refused: %s = %s", (key, value, message) => {
    const changed = { ...metadata, [`tokenizer.ggml.${key}`]: value };
    expect(() => readGgufTokenizer(changed, "x.gguf")).toThrow(message);
  });
});

describe("metadata that cannot be used", () => {
  const metadata = metadataOf("qwen2_5", "qwen2");
  it.each([
    [
      "tokenizer.ggml.model",
      "t5",
      /"t5" is not supported; supported: "gpt2" \(byte-level BPE\), "llama" \(SentencePiece\)/,
    ],
    [
      "tokenizer.ggml.pre",
      "default",
      /pre-tokenizer "default" is not supported; supported: gpt-2, smollm/,
    ],
    ["tokenizer.ggml.merges", undefined, /tokenizer.ggml.merges" is not a list/],
    ["tokenizer.chat_template", undefined, /no chat template/],
  ])("is refused: %s = %s", (key, value, message) => {
    expect(() => loadGgufRenderer({ ...metadata, [key]: value }, "x.gguf")).toThrow(message);
  });
});
