/** Later turns: what was sampled stays, what is added is what the template would have written. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../src/core/message.ts";
import type { Renderer } from "../../src/core/policy.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import { createJinjaRenderer } from "../../src/models/renderers/jinja/jinja.ts";
import type { TextTokenizer } from "../../src/models/tokenizers/tokenizer.ts";
import { tools } from "./conversations.ts";
import { loadReal, withMarkup, type RealModel } from "./real-tokenizers.ts";
import { lastQuestionTemplate, openThinkTemplate, smollm2Template } from "./templates.ts";

const question: ChatMessage = { role: "user", content: "Q" };
const more: ChatMessage = { role: "user", content: "More" };
const call = { id: "c0", name: "now", arguments: '{"a": 1}' };
const result: ChatMessage = { role: "tool", content: "12:00", toolCallId: "c0" };

function sampled(
  tokenizer: TextTokenizer,
  renderer: Renderer,
  text: string,
  end = true,
): Int32Array {
  const { tokens } = renderer.render([question], { tools });
  const [stop = -1] = renderer.stop.tokenIds;
  return Int32Array.from([...tokens, ...tokenizer.encode(text), ...(end ? [stop] : [])]);
}

function native(model: RealModel, options = {}): [TextTokenizer, Renderer] {
  const { tokenizer, config } = loadReal(model);
  return [tokenizer, chooseRenderer(tokenizer, config, options)];
}

function jinja(model: RealModel, template?: string): [TextTokenizer, Renderer] {
  const { tokenizer, config } = loadReal(model);
  const variables = { bos_token: "<|begin_of_text|>", date_string: "26 Jul 2024" };
  const eosToken = model === "llama3_2" ? "<|eot_id|>" : "<|im_end|>";
  const own = { template: template ?? config.chat_template, variables, eosToken };
  return [tokenizer, createJinjaRenderer(tokenizer, own)];
}

const families: readonly (readonly [string, readonly [TextTokenizer, Renderer]])[] = [
  ["Qwen 2.5", native("qwen2_5")],
  ["Llama 3.2", native("llama3_2")],
  ["Qwen 2.5's template", jinja("qwen2_5")],
  ["Llama 3.2's template", jinja("llama3_2")],
  ["SmolLM2's template", jinja("qwen2_5", smollm2Template)],
];

describe.each(families)("%s", (_, [tokenizer, renderer]) => {
  const options = { tools };

  it("goes on as a fresh rendering would", () => {
    const whole = renderer.render([question, { role: "assistant", content: "A" }, more], options);
    const previous = sampled(tokenizer, renderer, "A");
    expect(renderer.extend(previous, [more], options)).toEqual(whole);
  });

  it("closes an answer that was cut short", () => {
    const whole = renderer.extend(sampled(tokenizer, renderer, "A"), [more], options);
    const previous = sampled(tokenizer, renderer, "A", false);
    expect(renderer.extend(previous, [more], options)).toEqual(whole);
  });

  it("goes on after the results of calls", () => {
    const messages: ChatMessage[] = [
      question,
      { role: "assistant", content: "", toolCalls: [call] },
    ];
    const closed = renderer.render(messages, options).tokens;
    const whole = renderer.render([...messages, result], options).tokens;
    const text = tokenizer.decode(whole);
    const added = renderer.extend(sampled(tokenizer, renderer, "X"), [result], options);
    expect(closed.length).toBeGreaterThan(0);
    expect(text.endsWith(tokenizer.decode(added!.tokens).split("X").at(-1)!)).toBe(true);
  });
});

describe("Qwen 3", () => {
  const thought = "<think>\nhm\n</think>\n\nA";

  it("keeps the reasoning that was sampled, and leaves it out of a fresh rendering", () => {
    const [tokenizer, renderer] = native("qwen3");
    const previous = sampled(tokenizer, renderer, thought);
    const { tokens } = renderer.extend(previous, [more])!;
    expect([...tokens.subarray(0, previous.length)]).toEqual([...previous]);
    const answer: ChatMessage = { role: "assistant", content: "A", reasoning: "hm" };
    const fresh = tokenizer.decode(renderer.render([question, answer, more]).tokens);
    expect(fresh).not.toContain("hm");
    expect(tokenizer.decode(tokens)).toContain("hm");
  });

  it("opens with an empty block when it is not to think", () => {
    const [tokenizer, renderer] = native("qwen3", { enableThinking: false });
    const open = "<|im_start|>assistant\n<think>\n\n</think>\n\n";
    expect(tokenizer.decode(renderer.render([question]).tokens).endsWith(open)).toBe(true);
    const { tokens } = renderer.extend(sampled(tokenizer, renderer, "A"), [more])!;
    expect(tokenizer.decode(tokens).endsWith(`More<|im_end|>\n${open}`)).toBe(true);
  });

  it("is rendered afresh by its own template, which strips the past", () => {
    const [tokenizer, renderer] = jinja("qwen3");
    expect(renderer.extend(sampled(tokenizer, renderer, thought), [more])).toBeNull();
  });
});

describe("templates that write the past anew", () => {
  it("do not go on where tools move to the last question", () => {
    const [tokenizer, renderer] = jinja("qwen2_5", lastQuestionTemplate);
    const previous = sampled(tokenizer, renderer, "A");
    expect(renderer.extend(previous, [more], { tools })).toBeNull();
    const plain = renderer.extend(previous, [more])!.tokens;
    expect(tokenizer.decode(plain.subarray(previous.length))).toBe(
      "[user]More<|im_end|>[assistant]",
    );
  });

  it("read reasoning that began in the prompt", () => {
    const [tokenizer, renderer] = jinja("qwen3", openThinkTemplate);
    const think = (text: string) => renderer.parse(withMarkup(tokenizer, text));
    expect(think("hm\n</think>\n\nA")).toEqual({ content: "A", reasoning: "hm", toolCalls: [] });
    expect(think("hm")).toEqual({ content: "", reasoning: "hm", toolCalls: [] });
  });
});
