/**
 * Mistral's third format: `[INST]text[/INST]answer</s>`; with its SentencePiece tokenizer (Mistral-7B-v0.3) a space is
 * after each token, with Tekken (Nemo) none. Tools and the system prompt are with the last question, so a prompt that
 * is rendered from scratch moves them; a continued conversation keeps them where they were.
 */
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";
import { deriveSeed } from "../../util/random.ts";
import { completionGrammar } from "./completion-grammar.ts";
import { messageText } from "../../core/message-text.ts";
import { markup, plain, type Part } from "./token-builder.ts";
import {
  describeMistralTools,
  mistralCallStart,
  mistralTools,
} from "./tool-formats/mistral-json.ts";
import { writeArguments } from "./tool-formats/json-call.ts";
import { createTurnRenderer } from "./turn-renderer.ts";

export interface MistralOptions {
  /** After each token of the format. @default "" */
  readonly space?: "" | " ";
}

const end = "</s>";
const idLength = 9;

/** The template takes ids of nine letters and digits only. */
function callId(id: string): string {
  if (/^[\dA-Za-z]{9}$/u.test(id)) return id;
  return deriveSeed(0, id).toString(36).padStart(idLength, "0").slice(-idLength);
}

function callsTurn({ toolCalls = [] }: ChatMessage, space: string): readonly Part[] {
  const calls = toolCalls.flatMap(({ id, name, arguments: text }, i) => [
    plain(`${i === 0 ? "" : ", "}{"name": ${JSON.stringify(name)}, `),
    plain(`"arguments": ${writeArguments(text, JSON.stringify(text))}, "id": "${callId(id)}"}`),
  ]);
  return [markup(`${mistralCallStart}${space}[`), ...calls, markup(`]${end}`)];
}

function turn(message: ChatMessage, space: string, before: readonly Part[] = []): readonly Part[] {
  const text = plain(messageText(message.content, { image: "refuse" }));
  switch (message.role) {
    case "assistant":
      return (message.toolCalls ?? []).length > 0
        ? callsTurn(message, space)
        : [markup(space), text, markup(end)];
    case "tool":
      return [
        markup(`[TOOL_RESULTS]${space}{"content": `),
        text,
        markup(`, "call_id": "${callId(message.toolCallId ?? "")}"}[/TOOL_RESULTS]`),
      ];
    default:
      return [markup(`[INST]${space}`), ...before, text, markup("[/INST]")];
  }
}

function wholePrompt(
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
  space: string,
): readonly Part[] {
  const [first] = messages;
  const system = first?.role === "system" ? first : undefined;
  const others = system === undefined ? messages : messages.slice(1);
  const last = others.findLastIndex(({ role }) => role === "user");
  const turns = others.flatMap((message, i) => {
    if (i !== last) return turn(message, space);
    // As the template has it: the system prompt is only where the conversation ends with a question.
    const before =
      system !== undefined && i === others.length - 1
        ? [plain(messageText(system.content, { image: "refuse" })), markup("\n\n")]
        : [];
    return [...describeMistralTools(tools, space), ...turn(message, space, before)];
  });
  return [markup("<s>"), ...turns];
}

export function createMistralRenderer(
  tokenizer: TextTokenizer,
  { space = "" }: MistralOptions = {},
): Renderer {
  const { grammar, syntax } = mistralTools(space);
  return createTurnRenderer(tokenizer, {
    family: "mistral",
    end,
    otherStops: [],
    endsToo: [],
    separator: "",
    opening: "",
    syntax: { calls: syntax, prefix: space },
    whole: (messages, tools) => wholePrompt(messages, tools, space),
    more: (messages) => messages.flatMap((message) => turn(message, space)),
    grammar: (form) => completionGrammar(grammar, form),
  });
}
