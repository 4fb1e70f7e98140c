/**
 * Any model with a Jinja chat template. A later prompt is what the template writes after an assistant's
 * turn; where the template would also rewrite earlier turns, there is none and the caller renders from
 * scratch.
 */
import { joinTokens } from "../../../util/token-prefix.ts";
import { ModelError } from "../../../core/errors.ts";
import type { ChatMessage } from "../../../core/message.ts";
import type { CallSyntax } from "../../../core/completion-reader.ts";
import type { Renderer } from "../../../core/policy.ts";
import { defined } from "../../../util/defined.ts";
import { createChatTemplate, isLimitError, type TemplateVariables } from "./jinja-template.ts";
import type { Str } from "./language/str.ts";
import { thinkingSwitch } from "./thinking-switch.ts";
import { tokenParts } from "./token-parts.ts";
import { thinkEnd, thinkMarkup, thinkStart } from "../reasoning.ts";
import { createRenderer, roomAfter } from "../create-renderer.ts";
import { buildTokens, encodeNow } from "../token-builder.ts";
import type { TextTokenizer } from "../../tokenizers/tokenizer.ts";
import { hermesTools } from "../tool-formats/hermes.ts";
import { mistralCallStart, mistralTools } from "../tool-formats/mistral-json.ts";
import { llamaTools } from "../tool-formats/llama-json.ts";
import { xmlCalls } from "../tool-formats/qwen-xml.ts";
import { callStart } from "../tool-formats/tagged-calls.ts";
import { createReading, hiddenTokens } from "../turn-renderer.ts";

export interface JinjaRendererOptions {
  readonly template: string;
  /** Where it comes from, for messages. @default "the model" */
  readonly source?: string;
  /** For requests with tools. @default `template` */
  readonly toolTemplate?: string;
  /** Ends a completion, in addition to what the template writes after one. @default none */
  readonly eosToken?: string;
  /** What the template takes for today, as `%d %b %Y`. @default "26 Jul 2024" */
  readonly date?: string;
  /** Whether the model is to reason where a prompt does not say. @default as the template has it */
  readonly thinking?: boolean;
  /** Variables that the template may use: `bos_token`, `date_string` ... @default {} */
  readonly variables?: TemplateVariables;
}

const defaultDate = "26 Jul 2024";

type Messages = readonly ChatMessage[];

/** Infers the tool call format from what the template writes. */
function detectCalls(template: string): CallSyntax | undefined {
  if (template.includes("<function=")) return xmlCalls;
  if (template.includes(callStart)) return hermesTools.syntax;
  // Newer formats of Mistral write the name before `[ARGS]`; those are not read.
  if (template.includes(mistralCallStart) && !template.includes("[ARGS]"))
    return mistralTools("").syntax;
  if (/"parameters": |python_tag/.test(template)) return llamaTools.syntax;
  return undefined;
}

const question: ChatMessage = { role: "user", content: "Q" };
const answerText = "ANSWER7";

/** A turn that the first of `messages` may follow. */
function answerBefore(messages: Messages): ChatMessage {
  const results = messages.slice(
    0,
    [...messages, question].findIndex((m) => m.role !== "tool"),
  );
  if (results.length === 0) return { role: "assistant", content: answerText };
  const toolCalls = results.map(({ toolCallId, name }, i) => ({
    id: toolCallId ?? `call${i}`,
    name: name ?? "f",
    arguments: "{}",
  }));
  return { role: "assistant", content: "", toolCalls };
}

/**
 * @throws ModelError when the template is not valid Jinja, or exceeds the work limit for a single question.
 */
export function createJinjaRenderer(
  tokenizer: TextTokenizer,
  options: JinjaRendererOptions,
): Renderer {
  const { template, source = "the model", toolTemplate, eosToken, variables = {} } = options;
  const write = createChatTemplate({
    template,
    source,
    ...defined({ toolTemplate }),
    date: options.date ?? defaultDate,
    variables: { ...defined({ eos_token: eosToken }), ...variables },
  });
  type Attempt = Partial<Parameters<typeof write>[0]>;
  const attempt = (messages: Messages, more: Attempt = {}): Str | null => {
    try {
      return write({ messages, tools: [], open: false, ...more });
    } catch (error) {
      if (isLimitError(error)) throw error;
      return null;
    }
  };
  const encode = (text: Str, contextLength?: number): ReturnType<typeof buildTokens> =>
    buildTokens(tokenizer, tokenParts(tokenizer.controls, text), { contextLength });

  const tried = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw new ModelError({
        message: (cause as Error).message,
        hint: "Use another chat template: this one would hold up every request.",
        cause,
        fields: { source },
      });
    }
  };
  const thinkingVariables = tried(() => thinkingSwitch(attempt));
  const variablesFor = (thinking = options.thinking): TemplateVariables | undefined =>
    thinking === undefined ? undefined : thinkingVariables?.(thinking);
  const answered = tried(() => attempt([question, { role: "assistant", content: answerText }]));
  const answerAt = answered?.text.lastIndexOf(answerText) ?? -1;
  /** What the template writes after an assistant message; null when it cannot be determined. */
  const closing = answerAt === -1 ? null : answered!.cut(answerAt + answerText.length);
  const closingIds = closing === null ? [] : encodeNow(tokenizer, encode(closing));
  const controlIds = new Set([...tokenizer.controls.byText.values()].map(({ id }) => id));
  const eosId = eosToken === undefined ? undefined : tokenizer.controls.byText.get(eosToken)?.id;
  const endId = closingIds.find((id) => controlIds.has(id));
  const stopIds = [...new Set([endId, eosId].filter((id) => id !== undefined))];
  /** Complete turns of plain text end where the next one starts. */
  const stopText = stopIds.length === 0 ? (closing?.text ?? "").trimEnd() : "";

  const asked = tried(() => attempt([question]))?.text;
  const startsInside = (thinking?: boolean): boolean => {
    const own = variablesFor(thinking);
    const opened = attempt([question], { open: true, variables: own })?.text ?? "";
    const opening = opened.slice(asked?.length ?? opened.length);
    return opening.lastIndexOf(thinkStart) > opening.lastIndexOf(thinkEnd);
  };
  /** Whether the prompt opens the reasoning, by what is asked of it. */
  const openings = tried(
    () => new Map([undefined, false, true].map((thinking) => [thinking, startsInside(thinking)])),
  );
  const isOpen = (thinking?: boolean): boolean => openings.get(thinking)!;
  const thinks = template.includes(thinkEnd);
  const calls = detectCalls(`${template}${toolTemplate ?? ""}`);
  const syntax = {
    ...defined({ calls }),
    ...(thinks ? { reasoning: { ...thinkMarkup, isOpen } } : {}),
  };
  const hidden = new Set([...hiddenTokens(tokenizer, syntax), ...stopIds]);

  return createRenderer(tokenizer, {
    family: "jinja",
    stop: { tokenIds: stopIds, strings: stopText === "" ? [] : [stopText] },
    // How a template that is not known writes calls and reasoning cannot be said.
    grammar: ({ content, tools }) => (tools.length === 0 && !thinks ? (content ?? null) : null),
    choosesThinking: thinkingVariables !== null,
    *render(messages, { tools = [], contextLength, thinking }) {
      const own = variablesFor(thinking);
      const written = write({ messages, tools, open: true, variables: own });
      return { tokens: Int32Array.from(yield* encode(written, contextLength)) };
    },
    *extend(previous, newMessages, { tools = [], contextLength, thinking }) {
      if (closing === null) return null;
      const past = [question, answerBefore(newMessages)];
      const shared = { tools, variables: variablesFor(thinking) };
      const prompted = attempt([question], { ...shared, open: true });
      const before = attempt(past, shared);
      const after = attempt([...past, ...newMessages], { ...shared, open: true });
      if (!prompted || !before || !after) return null;
      // The prefix property: prompt and response are an exact prefix of what is written later.
      if (!before.text.startsWith(prompted.text) || !before.text.endsWith(closing.text))
        return null;
      if (!after.text.startsWith(before.text)) return null;
      const text = closing.plus(after.cut(before.text.length));
      const added = yield* encode(text, roomAfter(previous, contextLength));
      const ended = stopIds.includes(previous.at(-1) ?? -1);
      const skipped = ended && endId !== undefined ? closingIds.indexOf(endId) + 1 : 0;
      return { tokens: joinTokens(previous, added.slice(skipped)) };
    },
    ...createReading(tokenizer, syntax, hidden),
  });
}
