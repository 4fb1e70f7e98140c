/** ChatML without reasoning: Qwen 2.5, SmolLM2, and the compact built-in. Sampled tokens are never encoded again. */
import type { ChatMessage } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import { resultTurn, textTurn, toolsTurn, turnEnd, turnStart, withSystem } from "./chatml-turns.ts";
import { completionGrammar } from "./completion-grammar.ts";
import { messageText } from "../../core/message-text.ts";
import { plain, type Part } from "./token-builder.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { hermesTools, namedTools } from "./tool-formats/hermes.ts";
import { createTurnRenderer } from "./turn-renderer.ts";

export interface ChatmlOptions {
  /** `schemas`: the whole JSON schemas; `names`: one short line. @default "schemas" */
  readonly tools?: "schemas" | "names";
  /** System prompt of conversations that have none. @default none */
  readonly defaultSystem?: string;
  /** Further tokens that end a completion. @default none */
  readonly otherStops?: readonly string[];
}

/** As in the templates of these models. */
export const defaultSystems = {
  qwen25: "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.",
  smollm2: "You are a helpful AI assistant named SmolLM, trained by Hugging Face",
} as const;

export function createChatmlRenderer(
  tokenizer: TextTokenizer,
  options: ChatmlOptions = {},
): Renderer {
  const { tools: style = "schemas", defaultSystem, otherStops = [] } = options;
  const format = style === "names" ? namedTools : hermesTools;

  const turns = (messages: readonly ChatMessage[]): readonly Part[] =>
    messages.flatMap((message, i) => {
      if (message.role === "tool") return resultTurn(message, messages[i - 1], messages[i + 1]);
      const content = messageText(message.content, { image: "refuse" });
      return textTurn(message, [plain(content)], content !== "", format);
    });

  return createTurnRenderer(tokenizer, {
    family: "chatml",
    end: turnEnd,
    otherStops,
    endsToo: [],
    separator: "\n",
    opening: `${turnStart}assistant\n`,
    syntax: { calls: format.syntax },
    // The built-in's other tokens are text.
    ...(style === "names" ? { hidden: [turnStart] } : {}),
    whole(messages, tools) {
      const all = withSystem(messages, defaultSystem);
      if (tools.length === 0) return turns(all);
      const [first] = all;
      const system = first?.role === "system" ? first : undefined;
      return [...toolsTurn(system, tools, format), ...turns(system ? all.slice(1) : all)];
    },
    more: turns,
    grammar: (form) => completionGrammar(format.grammar, form),
  });
}
