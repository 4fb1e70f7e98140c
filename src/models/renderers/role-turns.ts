/**
 * Families whose turns are a header with the role, text and an end: Gemma, Phi, OLMo 2. Where a family has no format
 * for tools, they are described and called as in Hermes, and results are turns of the user.
 */
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { completionGrammar } from "./completion-grammar.ts";
import { messageText } from "../../core/message-text.ts";
import { markup, plain, type Part } from "./token-builder.ts";
import { hermesTools } from "./tool-formats/hermes.ts";
import type { ToolFormat } from "./tool-formats/tool-format.ts";
import { createTurnRenderer, type TurnFormat } from "./turn-renderer.ts";

export interface RoleFormat extends Pick<TurnFormat, "family" | "otherStops"> {
  /** What begins a conversation. */
  readonly start: string;
  readonly header: (role: ChatMessage["role"]) => string;
  /** Ends an assistant's turn. */
  readonly end: string;
  /** Ends the turns of others. @default `end` */
  readonly otherEnd?: string;
  /** After the end of each turn. */
  readonly separator: string;
  /** Where the system prompt is: in a separate turn, or before the first question's text. */
  readonly system: "turn" | "question";
  /** Spaces around the text of a message are dropped. @default false */
  readonly trims?: boolean;
  /** The family's own format for tools. @default Hermes', results as turns of the user */
  readonly tools?: ToolFormat;
}

const hermesList = { start: "", separator: "\n", end: "" };

/** The system prompt and the tools; no parts where there are neither. */
function instructions(
  system: string,
  tools: readonly ToolDefinition[],
  format: RoleFormat["tools"],
): readonly Part[] {
  const described = tools.length === 0 ? [] : (format ?? hermesTools).describe(tools);
  const between = system !== "" && described.length > 0 && format === undefined;
  return [
    ...(system === "" ? [] : [plain(system)]),
    ...(between ? [markup("\n\n")] : []),
    ...described,
  ];
}

export function createRoleRenderer(tokenizer: TextTokenizer, format: RoleFormat): Renderer {
  const { start, header, end, otherEnd = end, separator, trims = false } = format;
  const calls = format.tools ?? hermesTools;
  const written = (message: ChatMessage): string =>
    trims
      ? messageText(message.content, { image: "refuse" }).trim()
      : messageText(message.content, { image: "refuse" });

  /** Without the end of the turn. */
  const body = (message: ChatMessage): readonly Part[] => {
    const text = written(message);
    const content = text === "" ? [] : [plain(text)];
    const { toolCalls = [] } = message;
    if (toolCalls.length === 0) return content;
    const { start: open, separator: between, end: close } = calls.list ?? hermesList;
    return [
      ...content,
      markup(text !== "" && calls.list === undefined ? `\n${open}` : open),
      ...toolCalls.flatMap((call, i) => [
        ...(i === 0 ? [] : [markup(between)]),
        ...calls.call(call.name, call.arguments),
      ]),
      markup(close),
    ];
  };
  const results = (messages: readonly ChatMessage[]): readonly Part[] =>
    messages.flatMap((message, i) => [
      markup(`${i === 0 ? "" : "\n"}<tool_response>\n`),
      plain(messageText(message.content, { image: "refuse" })),
      markup("\n</tool_response>"),
    ]);
  const turn = (role: ChatMessage["role"], parts: readonly Part[]): readonly Part[] => [
    markup(header(role)),
    ...parts,
    markup(`${role === "assistant" ? end : otherEnd}${separator}`),
  ];
  const turns = (messages: readonly ChatMessage[]): readonly Part[] =>
    messages.flatMap((message, i) => {
      if (message.role !== "tool") return turn(message.role, body(message));
      if (format.tools !== undefined)
        return turn("tool", [plain(messageText(message.content, { image: "refuse" }))]);
      // Results of parallel calls share one turn.
      if (messages[i - 1]?.role === "tool") return [];
      const after = messages.slice(i);
      const count = after.findIndex(({ role }) => role !== "tool");
      return turn("user", results(count === -1 ? after : after.slice(0, count)));
    });

  return createTurnRenderer(tokenizer, {
    family: format.family,
    end,
    otherStops: format.otherStops,
    endsToo: [],
    separator,
    opening: header("assistant"),
    syntax: { calls: calls.syntax },
    whole(messages, tools) {
      const [first] = messages;
      const hasSystem = first?.role === "system";
      const head = instructions(
        hasSystem ? messageText(first.content, { image: "refuse" }) : "",
        tools,
        format.tools,
      );
      const others = hasSystem ? messages.slice(1) : messages;
      if (head.length === 0) return [markup(start), ...turns(others)];
      if (format.system === "turn")
        return [markup(start), ...turn("system", head), ...turns(others)];
      const [question] = others;
      const questionBody = question?.role === "user" ? body(question) : [];
      return [
        markup(start),
        ...turn("user", [...head, markup("\n\n"), ...questionBody]),
        ...turns(others.slice(question?.role === "user" ? 1 : 0)),
      ];
    },
    more: turns,
    grammar: (form) => completionGrammar(calls.grammar, form),
  });
}
