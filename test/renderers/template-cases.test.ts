/** Chat templates from public reports against what Python writes; kept beside the repository. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ChatMessage, ToolDefinition } from "../../src/core/message.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import { sharedCases } from "../shared-cases.ts";
import { loadReal } from "./real-tokenizers.ts";

interface Case {
  readonly kind: string;
  readonly name: string;
  readonly template: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  readonly expected: string;
}

const file = sharedCases("capture/templates.json");
const { cases } =
  file === null
    ? { cases: [] }
    : (JSON.parse(readFileSync(file, "utf8")) as { readonly cases: readonly Case[] });

describe.skipIf(file === null)("reported templates (the cases lie beside the repository)", () => {
  it.each(cases)("$kind: $name", ({ template, messages, tools, expected }) => {
    const { tokenizer, config } = loadReal("qwen3");
    const renderer = chooseRenderer(tokenizer, {
      ...config,
      chat_template: template,
      eos_token: "<|endoftext|>",
    });
    const { tokens } = renderer.render(messages, tools === undefined ? {} : { tools });
    expect(renderer.inspect!(tokens).normalize("NFC")).toBe(expected.normalize("NFC"));
  });
});
