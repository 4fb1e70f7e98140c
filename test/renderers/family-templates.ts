/** Chat templates of families whose tokenizers no package has, with a tokenizer that has their tokens; fixtures by `scripts/fixtures/make_templates.py`. */
import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";
import type { ChatMessage, ToolDefinition } from "../../src/core/message.ts";
import type { Renderer } from "../../src/core/policy.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import { createTokenizer, type TextTokenizer } from "../../src/models/tokenizers/tokenizer.ts";
import { loadReal } from "./real-tokenizers.ts";

export interface WireMessage {
  readonly role: ChatMessage["role"];
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: object } }[];
}
export interface ExpectedTexts {
  readonly bos_token: string | null;
  readonly eos_token: string;
  readonly cases: readonly {
    readonly messages: readonly WireMessage[];
    readonly tools: readonly { readonly function: ToolDefinition }[] | null;
    readonly text: string;
  }[];
}

const file = (name: string): string =>
  readFileSync(new URL(`../fixtures/templates/${name}`, import.meta.url), "utf8");
export const expectedTexts = JSON.parse(file("expected.json")) as Readonly<
  Record<string, ExpectedTexts>
>;

const chatml = ["<|im_start|>", "<|im_end|>"];
const phi3 = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|endoftext|>"];
const mistral = ["<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]"].concat(
  ["AVAILABLE_TOOLS", "TOOL_RESULTS"].flatMap((name) => [`[${name}]`, `[/${name}]`]),
);
/** The renderer of each template, and the tokens that its models have. */
export const familyTemplates: Readonly<
  Record<string, readonly [family: string, controls: readonly string[]]>
> = {
  "gemma-3": ["gemma", ["<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"]],
  "phi-3.5-mini": ["phi", phi3],
  "phi-4-mini": [
    "phi",
    [...phi3, "<|tool|>", "<|/tool|>", "<|tool_call|>", "<|/tool_call|>", "<|tool_response|>"],
  ],
  "olmo-2": ["olmo2", ["<|endoftext|>"]],
  "mistral-nemo": ["mistral", mistral],
  "mistral-7b-v0.3": ["mistral", mistral],
  smollm3: ["jinja", chatml],
  "smollm3-tools": ["jinja", chatml],
};

/** A published tokenizer with the tokens of the family instead of its own. */
export function tokenizerFile(name: string): object {
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const added = familyTemplates[name]![1].map((content, i) => ({
    id: firstControl + i,
    content,
    ...flags,
    special: true,
  }));
  return { ...loadReal("qwen2_5").json, added_tokens: added };
}

/** Ids of the family's tokens start here. */
export const firstControl = 160_000;

export function loadFamily(name: string): {
  readonly renderer: Renderer;
  readonly tokenizer: TextTokenizer;
  readonly full: (text: string) => number[];
} {
  const json = tokenizerFile(name);
  const tokenizer = createTokenizer(json, name);
  const { bos_token, eos_token } = expectedTexts[name]!;
  const config = { chat_template: file(`${name}.jinja`), bos_token, eos_token };
  const library = new Tokenizer(json, {}) as unknown as {
    encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  };
  return {
    renderer: chooseRenderer(tokenizer, config),
    tokenizer,
    full: (text) => library.encode(text, { add_special_tokens: false }).ids,
  };
}
