/** Whether a request can choose thinking, and what a chat template then writes. */
import { describe, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import {
  chooseRenderer,
  type RendererOptions,
} from "../../src/models/renderers/choose-renderer.ts";
import { loadReal } from "./real-tokenizers.ts";

const { tokenizer, config } = loadReal("qwen3");
const published = (name: string): string =>
  readFileSync(new URL(`../fixtures/templates/${name}.jinja`, import.meta.url), "utf8");
const load = (chat_template: string, options: RendererOptions = {}) =>
  chooseRenderer(tokenizer, { ...config, chat_template }, options);
const question = [{ role: "user", content: "Q" }] as const;

function prompts(template: string, options?: RendererOptions): readonly string[] {
  const renderer = load(template, options);
  return [{}, { thinking: true }, { thinking: false }].map((own) =>
    renderer.inspect!(renderer.render(question, own).tokens),
  );
}

describe("a template with a switch", () => {
  // `enable_thinking`: Qwen 3.5, GLM, Nemotron 3, SmolLM3, MiniCPM; `thinking`: Granite, DeepSeek.
  it.each([
    ["qwen3.5", 1],
    ["glm-4.6", 1],
    ["nemotron-3", 1],
    ["smollm3", 1],
    ["minicpm5", null],
    ["granite-3.3", 2],
    ["deepseek-v3.1", 2],
  ])("(%s) writes another prompt without thinking", (name, asDefault) => {
    const template = published(name);
    expect(load(template).choosesThinking).toBe(true);
    const written = prompts(template);
    const [asLoaded, on, off] = written;
    expect(on).not.toBe(off);
    if (asDefault !== null) expect(asLoaded).toBe(written[asDefault]);
  });

  it("takes the option of loading where a request does not say", () => {
    const template = published("glm-4.6");
    const [asLoaded, on, off] = prompts(template, { enableThinking: false });
    expect([asLoaded === off, on === off]).toEqual([true, false]);
  });

  it("goes on in the same mode", () => {
    const renderer = load(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}" +
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% if thinking %}[on]{% endif %}{% endif %}",
    );
    const prompt = renderer.render(question, { thinking: false }).tokens;
    const previous = Int32Array.from([
      ...prompt,
      ...tokenizer.encode("A"),
      ...renderer.stop.tokenIds,
    ]);
    for (const thinking of [true, false]) {
      const { tokens } = renderer.extend(previous, question, { thinking }) ?? { tokens: null };
      if (thinking) expect(tokens).toBeNull();
      else expect(renderer.inspect!(tokens!)).not.toContain("[on]");
    }
  });
});

describe("a template without one", () => {
  it.each(["qwen3-coder", "kimi-k2", "minimax-m2", "phi-3.5-mini"])("(%s) says so", (name) => {
    expect(load(published(name)).choosesThinking).toBe(false);
    const [asLoaded, on, off] = prompts(published(name));
    expect([on, off]).toEqual([asLoaded, asLoaded]);
  });
});

it("Qwen 3's own renderer has the switch, ChatML's has none", () => {
  expect(load(config.chat_template).choosesThinking).toBe(true);
  const qwen25 = loadReal("qwen2_5");
  expect(chooseRenderer(qwen25.tokenizer, qwen25.config).choosesThinking).toBe(false);
});
