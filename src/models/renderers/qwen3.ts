/**
 * Qwen 3: ChatML with reasoning. A prompt rendered from scratch has reasoning where its template has it:
 * in the turns after the last question only. A continued conversation keeps every id that was sampled,
 * reasoning included.
 */
import type { ChatMessage } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import { resultTurn, textTurn, toolsTurn, turnEnd, turnStart } from "./chatml-turns.ts";
import { afterReasoning, completionGrammar } from "./completion-grammar.ts";
import { messageText } from "../../core/message-text.ts";
import { splitReasoning, thinkEnd, thinkMarkup, thinkStart } from "./reasoning.ts";
import { markup, plain, type Part } from "./token-builder.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { hermesTools } from "./tool-formats/hermes.ts";
import { createTurnRenderer } from "./turn-renderer.ts";

export interface Qwen3Options {
  /** When off, every response starts with an empty think block. @default true */
  readonly enableThinking?: boolean;
  /** Off for a model that is told nothing of it. @default true */
  readonly choosesThinking?: boolean;
}

const trimLines = (text: string): string => text.replace(/^\n+|\n+$/g, "");

/** Tool results that a client sent as a user message are not a question. */
function isQuestion(message: ChatMessage): boolean {
  if (message.role !== "user") return false;
  const text = messageText(message.content, { image: "refuse" });
  return !(text.startsWith("<tool_response>") && text.endsWith("</tool_response>"));
}

function assistantTurn(message: ChatMessage, afterQuestion: boolean, isLast: boolean): Part[] {
  const text = messageText(message.content, { image: "refuse" });
  // Clients without support for reasoning send it back inside the text.
  const split =
    message.reasoning === undefined
      ? splitReasoning(text)
      : { reasoning: message.reasoning, rest: text };
  const { rest } = split;
  const reasoning = split.reasoning ?? "";
  if (!afterQuestion || !(isLast || reasoning !== "")) {
    return [...textTurn(message, [plain(rest)], rest !== "", hermesTools)];
  }
  const block = [
    markup(`${thinkStart}\n`),
    plain(trimLines(reasoning)),
    markup(`\n${thinkEnd}\n\n`),
    plain(rest.replace(/^\n+/, "")),
  ];
  return [...textTurn(message, block, rest !== "", hermesTools)];
}

/** @param lastQuestion its index; turns after it show their reasoning */
function turns(messages: readonly ChatMessage[], lastQuestion: number): readonly Part[] {
  return messages.flatMap((message, i) => {
    if (message.role === "tool") return resultTurn(message, messages[i - 1], messages[i + 1]);
    if (message.role === "assistant") {
      return assistantTurn(message, i > lastQuestion, i === messages.length - 1);
    }
    return textTurn(
      message,
      [plain(messageText(message.content, { image: "refuse" }))],
      true,
      hermesTools,
    );
  });
}

export function createQwen3Renderer(
  tokenizer: TextTokenizer,
  { enableThinking = true, choosesThinking = true }: Qwen3Options = {},
): Renderer {
  return createTurnRenderer(tokenizer, {
    family: "qwen3",
    end: turnEnd,
    otherStops: ["<|endoftext|>"],
    endsToo: [],
    separator: "\n",
    opening: choosesThinking
      ? (thinking = enableThinking) =>
          `${turnStart}assistant\n${thinking ? "" : `${thinkStart}\n\n${thinkEnd}\n\n`}`
      : `${turnStart}assistant\n`,
    syntax: { calls: hermesTools.syntax, reasoning: thinkMarkup },
    whole(messages, tools) {
      const found = messages.findLastIndex(isQuestion);
      const lastQuestion = found === -1 ? messages.length - 1 : found;
      if (tools.length === 0) return turns(messages, lastQuestion);
      const [first] = messages;
      const system = first?.role === "system" ? first : undefined;
      const head = toolsTurn(system, tools, hermesTools);
      return system
        ? [...head, ...turns(messages.slice(1), lastQuestion - 1)]
        : [...head, ...turns(messages, lastQuestion)];
    },
    more: (messages) => turns(messages, messages.findLastIndex(isQuestion)),
    grammar(form) {
      const grammar = completionGrammar(hermesTools.grammar, form);
      return grammar && afterReasoning(grammar, thinkStart, thinkEnd);
    },
  });
}
