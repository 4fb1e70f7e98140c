/**
 * ChatML without reasoning: Qwen 2.5, Qwen3-Coder's tool calls, SmolLM2, and the compact built-in. Sampled
 * tokens are never encoded again.
 */
import type { ChatMessage } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import { resultTurn, textTurn, toolsTurn, turnEnd, turnStart, withSystem } from "./chatml-turns.ts";
import { overlay } from "../../core/overlay.ts";
import { completionGrammar } from "./completion-grammar.ts";
import { messageText } from "../../core/message-text.ts";
import { plain, type Part } from "./token-builder.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { hermesTools, namedTools } from "./tool-formats/hermes.ts";
import { xmlTools } from "./tool-formats/qwen-xml.ts";
import { callEnd, callStart } from "./tool-formats/tagged-calls.ts";
import { createTurnRenderer } from "./turn-renderer.ts";

export interface ChatmlOptions {
  /**
   * `schemas`: the whole JSON schemas; `names`: one short line; `xml`: schemas and calls in the format of
   * Qwen3-Coder. @default "schemas"
   */
  readonly tools?: "schemas" | "names" | "xml";
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

const formats = { schemas: hermesTools, names: namedTools, xml: xmlTools } as const;

export function createChatmlRenderer(
  tokenizer: TextTokenizer,
  options: ChatmlOptions = {},
): Renderer {
  const { tools: style = "schemas", defaultSystem, otherStops = [] } = options;
  const format = formats[style];

  const turns = (messages: readonly ChatMessage[]): readonly Part[] =>
    messages.flatMap((message, i) => {
      if (message.role === "tool") return resultTurn(message, messages[i - 1], messages[i + 1]);
      const content = messageText(message.content, { image: "refuse" });
      return textTurn(message, [plain(content)], content !== "", format);
    });

  const renderer = createTurnRenderer(tokenizer, {
    family: "chatml",
    end: turnEnd,
    otherStops,
    endsToo: [],
    separator: "\n",
    opening: `${turnStart}assistant\n`,
    shown: [callStart, callEnd],
    whole(messages, tools) {
      const all = withSystem(messages, defaultSystem);
      if (tools.length === 0) return turns(all);
      const [first] = all;
      const system = first?.role === "system" ? first : undefined;
      return [...toolsTurn(system, tools, format), ...turns(system ? all.slice(1) : all)];
    },
    more: turns,
    grammar: (form) => completionGrammar(format.grammar, form),
    parse: format.parse,
  });
  if (style !== "names") return renderer;
  // The built-in is unchanged: only its own two tokens are special, and only when decoding.
  const [endId] = renderer.stop.tokenIds;
  const startId = tokenizer.special(turnStart);
  return overlay(renderer, {
    parse: (tokens) =>
      format.parse(tokenizer.decode(tokens.at(-1) === endId ? tokens.subarray(0, -1) : tokens)),
    decode: (tokens) => tokenizer.decode(tokens.filter((id) => id !== endId && id !== startId)),
  });
}
