/**
 * The renderer for a chat template: one of the native families where it provably writes what the template
 * writes, else the template itself.
 */
import { ModelError } from "../../core/errors.ts";
import type { Renderer } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import { createChatmlRenderer } from "./chatml.ts";
import { turnEnd, turnStart } from "./chatml-turns.ts";
import { createGemmaRenderer } from "./gemma.ts";
import { createJinjaRenderer } from "./jinja/jinja.ts";
import { createLlama3Renderer, defaultLlamaDate } from "./llama3.ts";
import { createMistralRenderer } from "./mistral.ts";
import { createOlmo2Renderer } from "./olmo2.ts";
import { createPhi3Renderer, createPhi4MiniRenderer } from "./phi.ts";
import { readTemplates, tokenText, type TokenizerConfig } from "../tokenizers/model-files.ts";
import { rendersAlike, writesTools } from "./probe.ts";
import { createQwen3Renderer } from "./qwen3.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";

export interface RendererOptions {
  /** Whether to enable reasoning, for models where it can be turned off. @default true */
  readonly enableThinking?: boolean;
  /**
   * The date given to templates that request today's, so that prompts stay the same. @default "26 Jul 2024"
   */
  readonly date?: string;
}

/** The default system prompt of a template. */
export function findDefaultSystem(tokenizer: TextTokenizer, jinja: Renderer): string | undefined {
  const text = tokenizer.decode(jinja.render([{ role: "user", content: "Q" }]).tokens);
  const start = `${turnStart}system\n`;
  return text.startsWith(start) ? text.slice(start.length, text.indexOf(turnEnd)) : undefined;
}

function* nativeFamilies(
  tokenizer: TextTokenizer,
  jinja: Renderer,
  template: string,
  options: RendererOptions,
): Generator<Renderer> {
  const { controls } = tokenizer;
  if (template.includes("<|start_header_id|>") && controls.byText.has("<|eot_id|>")) {
    yield createLlama3Renderer(tokenizer, options);
  }
  if (template.includes("[TOOL_CALLS]") && controls.byText.has("[INST]")) {
    yield createMistralRenderer(tokenizer);
    yield createMistralRenderer(tokenizer, { space: " " });
  }
  if (template.includes("<start_of_turn>")) yield createGemmaRenderer(tokenizer);
  if (controls.byText.has("<|end|>")) {
    if (template.includes("<|tool|>")) yield createPhi4MiniRenderer(tokenizer);
    yield createPhi3Renderer(tokenizer);
    yield createPhi3Renderer(tokenizer, { start: "<s>" });
  } else if (template.includes("<|assistant|>")) yield createOlmo2Renderer(tokenizer);
  if (!template.includes(turnStart) || !controls.byText.has(turnEnd)) return;
  if (template.includes("</think>")) {
    const { choosesThinking = false } = jinja;
    yield createQwen3Renderer(tokenizer, { ...options, choosesThinking });
  }
  const defaultSystem = findDefaultSystem(tokenizer, jinja);
  const shared = {
    otherStops: ["<|endoftext|>"],
    ...defined({ defaultSystem }),
  };
  yield createChatmlRenderer(tokenizer, shared);
}

/** @throws ModelError when there is no template, or none that can be read. */
export function chooseRenderer(
  tokenizer: TextTokenizer,
  config: TokenizerConfig,
  options: RendererOptions = {},
  source = "tokenizer_config.json",
): Renderer {
  const templates = readTemplates(config.chat_template);
  if (templates === null) {
    throw new ModelError({
      message: `${source}: the model has no chat template.`,
      hint: "Put a chat_template.jinja into the model's folder; base models have none.",
      fields: { file: source },
    });
  }
  const { template } = templates;
  if (config.tool_prompt === "names" && template.includes(turnStart)) {
    return createChatmlRenderer(tokenizer, { tools: "names" });
  }
  const { enableThinking, date = defaultLlamaDate } = options;
  const { toolTemplate } = templates;
  const jinja = createJinjaRenderer(tokenizer, {
    template,
    source,
    date,
    ...defined({ toolTemplate, eosToken: tokenText(config.eos_token), thinking: enableThinking }),
    variables: { ...defined({ bos_token: tokenText(config.bos_token) }), date_string: date },
  });
  const hasTools = templates.toolTemplate === undefined && writesTools(jinja);
  try {
    for (const native of nativeFamilies(tokenizer, jinja, template, { ...options, date })) {
      if (rendersAlike(native, jinja, hasTools)) return native;
    }
  } catch {
    // A template that refuses a question without a system prompt is not a native family.
  }
  return jinja;
}
