/**
 * A conversation as the tokens that reinforcement learning would train on: each prompt is rendered or
 * extended as the gateway does it, and each response is what the model would have sampled, its stop token
 * included. So a conversation is one row where turns continue each other, reasoning included, and a mask
 * of the assistant's tokens.
 */
import type { ChatMessage, ToolDefinition } from "../../../core/message.ts";
import { messageText } from "../../../core/message-text.ts";
import type { Renderer } from "../../../core/policy.ts";
import { hasPrefix, joinTokens } from "../../../util/token-prefix.ts";
import type { Conversation } from "./conversation.ts";
import { RowError } from "./row-error.ts";
import type { TokenRow } from "./token-row.ts";

const [thinkStart, thinkEnd] = ["<think>", "</think>"] as const;
const question: ChatMessage = { role: "user", content: "Q" };

/** What comes after a message, for templates in which the next message's role ends a turn. */
const followers = ({ toolCalls = [] }: ChatMessage): readonly ChatMessage[] =>
  toolCalls.length === 0
    ? [question]
    : toolCalls.map(({ id, name }) => ({ role: "tool", content: "R", toolCallId: id, name }));

/** A message in the template's own words: what follows the prompt, up to the token that ends the turn. */
function* fromTemplate(
  renderer: Renderer,
  message: ChatMessage,
  tools: readonly ToolDefinition[],
): Generator<Int32Array> {
  const prompt = renderer.render([question], { tools }).tokens;
  const stops = new Set(renderer.stop.tokenIds);
  for (const after of [[], followers(message)]) {
    const whole = renderer.render([question, message, ...after], { tools }).tokens;
    if (!hasPrefix(whole, prompt)) continue;
    const rest = whole.subarray(prompt.length);
    const end = rest.findIndex((id) => stops.has(id));
    if (end >= 0) yield rest.slice(0, end + 1);
  }
}

/** For templates that drop the reasoning of earlier turns, or open it in the prompt. */
function* fromText(renderer: Renderer, message: ChatMessage): Generator<Int32Array> {
  const [stop] = renderer.stop.tokenIds;
  if (renderer.encode === undefined || stop === undefined || message.toolCalls) return;
  const text = messageText(message.content, { image: "drop" });
  const texts =
    message.reasoning === undefined
      ? [text]
      : ["", `${thinkStart}\n`].map(
          (open) => `${open}${message.reasoning}\n${thinkEnd}\n\n${text}`,
        );
  for (const each of texts) {
    yield joinTokens(renderer.encode(each), Int32Array.of(stop));
  }
}

/** Whether the tokens, read back, are the message: nothing of it may be lost. */
function isFaithful(
  renderer: Renderer,
  message: ChatMessage,
  tools: readonly ToolDefinition[],
  tokens: Int32Array,
): boolean {
  // Examples may call tools that they do not list.
  const parsed = renderer.parse(tokens, tools.length === 0 ? {} : { tools });
  const reasoning = message.reasoning?.trim() ?? "";
  return (
    parsed.toolCalls.length === (message.toolCalls?.length ?? 0) &&
    (reasoning === "" || parsed.reasoning?.trim() === reasoning) &&
    parsed.content.trim() === messageText(message.content, { image: "drop" }).trim()
  );
}

/** The message with the reasoning that stands in its text apart, as templates read it. */
function withReasoning(message: ChatMessage): readonly ChatMessage[] {
  const text = messageText(message.content, { image: "drop" });
  const end = text.indexOf(thinkEnd);
  const before = text.slice(0, Math.max(end, 0)).trimStart();
  const start = before.startsWith(thinkStart) ? thinkStart.length : 0;
  if (end < 0 || message.reasoning !== undefined) return [];
  // A tag in the middle of a sentence is text that speaks of it.
  const isAlone =
    /(?:^|\n)[^\S\n]*$/u.test(text.slice(0, end)) &&
    /^[^\S\n]*\n/u.test(text.slice(end + thinkEnd.length));
  if (start === 0 && !isAlone) return [];
  if (before.includes(thinkStart, start)) return [];
  const reasoning = before.slice(start).trim();
  const content = text.slice(end + thinkEnd.length).trimStart();
  return [{ ...message, content, ...(reasoning === "" ? {} : { reasoning }) }];
}

const sample: ChatMessage = { role: "assistant", content: "A", reasoning: "R" };

/** A thought that was cut off is not an answer; models that do not reason may say anything. */
function checkClosed(renderer: Renderer, message: ChatMessage, at: string): void {
  const text = messageText(message.content, { image: "drop" });
  if (!text.trimStart().startsWith(thinkStart) || text.includes(thinkEnd)) return;
  const written = [...fromTemplate(renderer, sample, [])];
  if (written.some((tokens) => isFaithful(renderer, sample, [], tokens)))
    throw new RowError(at, `the reasoning of an assistant message is not closed by ${thinkEnd}.`);
}

/** The ids with which the model would say `message`. @throws RowError when its template cannot write it. */
export function responseTokens(
  renderer: Renderer,
  message: ChatMessage,
  tools: readonly ToolDefinition[],
  at: string,
): Int32Array {
  checkClosed(renderer, message, at);
  const readings = [...withReasoning(message), message];
  for (const reading of readings) {
    for (const tokens of fromTemplate(renderer, reading, tools))
      if (isFaithful(renderer, reading, tools, tokens)) return tokens;
    for (const tokens of fromText(renderer, reading))
      if (isFaithful(renderer, reading, tools, tokens)) return tokens;
  }
  const { reasoning } = readings[0]!;
  const has = [
    ...(reasoning === undefined ? [] : ["reasoning"]),
    ...(message.toolCalls ? ["tool calls"] : []),
  ];
  const what =
    has.length === 0 ? "this assistant message" : `an assistant message with ${has.join(" and ")}`;
  throw new RowError(
    at,
    `the chat template of the model (${renderer.family}) cannot write ${what} so that it reads back the same.`,
    reasoning === undefined
      ? undefined
      : "Put the reasoning into reasoning_content, or remove it for a model that does not reason.",
  );
}

/** One sequence that is being built. */
class Building {
  tokens = new Int32Array(0);
  readonly #spans: (readonly [start: number, end: number])[] = [];

  respond(prompt: Int32Array, response: Int32Array, isTrained: boolean): void {
    this.tokens = joinTokens(prompt, response);
    if (isTrained) this.#spans.push([prompt.length, this.tokens.length]);
  }

  /** Nothing where no message of it is trained on. */
  finish(): TokenRow[] {
    if (this.#spans.length === 0) return [];
    // What follows the last trained token has no effect on it.
    const end = this.#spans.at(-1)![1];
    const mask = new Uint8Array(end);
    for (const [from, to] of this.#spans) mask.fill(1, from, to);
    return [{ tokens: this.tokens.slice(0, end), mask }];
  }
}

/** @throws RowError naming what cannot be rendered. */
export function renderConversation(
  renderer: Renderer,
  { messages, tools, trained }: Conversation,
  at: string,
): readonly TokenRow[] {
  const rows: TokenRow[] = [];
  let building = new Building();
  let last = -1;
  for (const [i, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    if (i === last + 1) {
      throw new RowError(
        at,
        `messages[${i}] is an assistant message that follows no other message.`,
      );
    }
    const { tokens } = building;
    const extended =
      last < 0 ? null : renderer.extend(tokens, messages.slice(last + 1, i), { tools });
    let prompt = extended?.tokens;
    if (prompt === undefined || !hasPrefix(prompt, tokens)) {
      rows.push(...building.finish());
      building = new Building();
      prompt = renderer.render(messages.slice(0, i), { tools }).tokens;
    }
    building.respond(prompt, responseTokens(renderer, message, tools, at), trained[i] === true);
    last = i;
  }
  rows.push(...building.finish());
  return rows;
}
