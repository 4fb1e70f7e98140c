/**
 * Llama 3.1 to 3.3: `<|start_header_id|>role<|end_header_id|>\n\ntext<|eot_id|>`. The tools are in the
 * first user turn, results in turns with the role `ipython`. Its template refuses several calls in one
 * response; here they are written one after the other, because agents make them.
 */
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import { completionGrammar } from "./completion-grammar.ts";
import { messageText } from "../../core/message-text.ts";
import { markup, plain, type Part } from "./token-builder.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { llamaTools } from "./tool-formats/llama-json.ts";
import { createTurnRenderer } from "./turn-renderer.ts";

export interface Llama3Options {
  /**
   * "Today Date" of the system prompt. Fixed, because a prompt that changes at midnight is no longer the
   * one that was sampled from. @default "26 Jul 2024", the template's own when it knows no clock
   */
  readonly date?: string;
}

export const defaultLlamaDate = "26 Jul 2024";

const end = "<|eot_id|>";
const header = (role: string): string => `<|start_header_id|>${role}<|end_header_id|>\n\n`;

function turn(message: ChatMessage): readonly Part[] {
  const { role, toolCalls = [] } = message;
  if (role === "tool") {
    // As the template writes it: a string is JSON, too.
    return [
      markup(header("ipython")),
      plain(JSON.stringify(messageText(message.content, { image: "refuse" }))),
      markup(end),
    ];
  }
  if (toolCalls.length === 0) {
    return [
      markup(header(role)),
      plain(messageText(message.content, { image: "refuse" }).trim()),
      markup(end),
    ];
  }
  const calls = toolCalls.flatMap((call, i) => [
    ...(i === 0 ? [] : [markup("; ")]),
    ...llamaTools.call(call.name, call.arguments),
  ]);
  return [markup(header(role)), ...calls, markup(end)];
}

function systemTurn(system: string, hasTools: boolean, date: string): readonly Part[] {
  const environment = hasTools ? "Environment: ipython\n" : "";
  return [
    markup(`<|begin_of_text|>${header("system")}${environment}`),
    markup(`Cutting Knowledge Date: December 2023\nToday Date: ${date}\n\n`),
    plain(system.trim()),
    markup(end),
  ];
}

function wholePrompt(
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
  date: string,
): readonly Part[] {
  const [first] = messages;
  const system = first?.role === "system" ? messageText(first.content, { image: "refuse" }) : "";
  const others = first?.role === "system" ? messages.slice(1) : messages;
  const head = systemTurn(system, tools.length > 0, date);
  if (tools.length === 0) return [...head, ...others.flatMap(turn)];
  const [question] = others;
  const isUser = question?.role === "user";
  return [
    ...head,
    markup(header("user")),
    ...llamaTools.describe(tools),
    plain(isUser ? messageText(question.content, { image: "refuse" }).trim() : ""),
    markup(end),
    ...others.slice(isUser ? 1 : 0).flatMap(turn),
  ];
}

export function createLlama3Renderer(
  tokenizer: TextTokenizer,
  { date = defaultLlamaDate }: Llama3Options = {},
): Renderer {
  return createTurnRenderer(tokenizer, {
    family: "llama3",
    end,
    otherStops: ["<|eom_id|>", "<|end_of_text|>"],
    endsToo: ["<|eom_id|>"],
    separator: "",
    opening: header("assistant"),
    syntax: { calls: llamaTools.syntax },
    whole: (messages, tools) => wholePrompt(messages, tools, date),
    more: (messages) => messages.flatMap(turn),
    grammar: (form) => completionGrammar(llamaTools.grammar, form),
  });
}
