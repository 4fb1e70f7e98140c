/** Native renderers against the models' own templates and the tokenizers' full tokenization. */
import { describe, expect, it } from "vitest";
import type { Renderer } from "../../src/core/policy.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import { createChatmlRenderer, defaultSystems } from "../../src/models/renderers/chatml.ts";
import { createJinjaRenderer } from "../../src/models/renderers/jinja/jinja.ts";
import { createLlama3Renderer } from "../../src/models/renderers/llama3.ts";
import { createQwen3Renderer } from "../../src/models/renderers/qwen3.ts";
import { cases } from "./conversations.ts";
import { createOracle } from "./oracle.ts";
import { loadReal, type RealModel } from "./real-tokenizers.ts";
import { smollm2Template } from "./templates.ts";

interface Family {
  readonly name: string;
  readonly model: RealModel;
  readonly template?: string;
  readonly variables: Readonly<Record<string, string | boolean>>;
  readonly family: string;
  readonly native: () => Renderer;
  readonly options?: { readonly enableThinking?: boolean; readonly date?: string };
  /** Cases in which the template does what we deliberately do not. */
  readonly differs?: Readonly<Record<string, string>>;
}

const parallelRefused = "the template refuses several calls in one answer";
const families: readonly Family[] = [
  {
    name: "Qwen 2.5",
    model: "qwen2_5",
    variables: {},
    family: "chatml",
    native: () =>
      createChatmlRenderer(loadReal("qwen2_5").tokenizer, { defaultSystem: defaultSystems.qwen25 }),
  },
  {
    name: "Qwen 3",
    model: "qwen3",
    variables: {},
    family: "qwen3",
    native: () => createQwen3Renderer(loadReal("qwen3").tokenizer),
  },
  {
    name: "Qwen 3, not thinking",
    model: "qwen3",
    variables: { enable_thinking: false },
    family: "qwen3",
    options: { enableThinking: false },
    native: () => createQwen3Renderer(loadReal("qwen3").tokenizer, { enableThinking: false }),
  },
  {
    name: "Llama 3.2",
    model: "llama3_2",
    variables: { bos_token: "<|begin_of_text|>", date_string: "01 Jan 2026" },
    family: "llama3",
    options: { date: "01 Jan 2026" },
    native: () => createLlama3Renderer(loadReal("llama3_2").tokenizer, { date: "01 Jan 2026" }),
    differs: { "parallel calls": parallelRefused, "parallel calls with text": parallelRefused },
  },
  {
    name: "SmolLM2",
    model: "qwen2_5",
    template: smollm2Template,
    variables: {},
    family: "chatml",
    native: () =>
      createChatmlRenderer(loadReal("qwen2_5").tokenizer, {
        defaultSystem: defaultSystems.smollm2,
      }),
  },
];

describe.each(families)("$name", (own) => {
  const { tokenizer, config, json } = loadReal(own.model);
  const template = own.template ?? config.chat_template;
  const oracle = createOracle(template, json, own.variables);
  const native = own.native();
  const chosen = chooseRenderer(
    tokenizer,
    { ...config, chat_template: template },
    own.options ?? {},
  );
  const jinja = createJinjaRenderer(tokenizer, { template, variables: own.variables });
  // SmolLM2's template knows neither tools nor results; ours then follow Hermes.
  const known = cases.filter(({ tools, messages }) =>
    own.template === undefined ? true : !tools && messages.every(({ role }) => role !== "tool"),
  );

  it("is what is chosen for the model's template", () => {
    expect(chosen.family).toBe(own.family);
    for (const { messages, tools } of known) {
      const options = tools ? { tools } : {};
      expect(chosen.render(messages, options)).toEqual(native.render(messages, options));
    }
  });

  it.each(known)("writes the ids of its template: $name", ({ name, messages, tools }) => {
    const options = tools ? { tools } : {};
    const ids = Array.from(native.render(messages, options).tokens);
    if (own.differs?.[name] !== undefined) {
      expect(() => oracle.ids(messages, tools)).toThrow("single tool-calls");
      return;
    }
    expect(tokenizer.decode(ids)).toBe(tokenizer.decode(oracle.ids(messages, tools)));
    expect(ids).toEqual(oracle.ids(messages, tools));
    expect(Array.from(jinja.render(messages, options).tokens)).toEqual(ids);
  });
});
