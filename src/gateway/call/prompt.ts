/** The prompt of a call, in tokens, and what is sampled for it. */
import { AgentTrainerError, ContextOverflowError } from "../../core/errors.ts";
import type { ChatMessage } from "../../core/message.ts";
import type { Renderer } from "../../core/policy.ts";
import { defined } from "../../util/defined.ts";
import { hasPrefix } from "../../util/token-prefix.ts";
import { badRequest } from "../http/api-error.ts";
import { chainMessages, type MessageChain, promptKey } from "../session/conversation.ts";
import type { CallRequest } from "./call-request.ts";
import { logitRules, readOutputForm, type OutputForm } from "./output-form.ts";
import { planCall, type CallPlan, type SessionCall } from "./plan-call.ts";

interface RenderedPrompt {
  readonly tokens: Int32Array;
  /** Trace whose tokens the prompt begins with. */
  readonly parentId: string | null;
}

export interface PreparedCall extends CallPlan, RenderedPrompt {
  /** What the response is to look like; null for anything. @default null */
  readonly form?: OutputForm | null;
  readonly chain: MessageChain;
}

/** A limit below the context window: prompts of more tokens are refused as too long, however they were given. */
export interface PromptLimit {
  /** Most tokens of a prompt, at least 1. */
  readonly tokens: number;
  /** Name of the option that says so, for the message. */
  readonly option: string;
}

/** What prompts are made for. */
export interface PromptPolicy {
  readonly renderer: Renderer;
  /** Longest prompt + completion, in tokens. */
  readonly contextLength: number;
  /** The sampler applies `SamplingParams.rules`. @default false */
  readonly rules?: boolean;
  /** @default none */
  readonly promptLimit?: PromptLimit;
}

/** Characters of text above which other calls get their turn while it is encoded. */
const longText = 16_384;
/** What a message or a tool costs in addition to its text, as characters do. */
const perEntry = 64;

function textLength(content: ChatMessage["content"]): number {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0), 0);
}

function isLong({ messages, tools, rawPrompt }: CallRequest): boolean {
  if (rawPrompt !== undefined) return rawPrompt.length > longText;
  let length = (messages.length + tools.length) * perEntry;
  for (const { content, reasoning = "", toolCalls = [] } of messages) {
    length += reasoning.length + textLength(content);
    for (const call of toolCalls) length += call.name.length + call.arguments.length;
    if (length > longText) return true;
  }
  return false;
}

/** From the length of its texts alone, before anything walks them. @throws ContextOverflowError */
function checkLength(
  { messages, rawPrompt }: CallRequest,
  { renderer, contextLength }: PromptPolicy,
): void {
  // A template may drop what a model wrote.
  const texts = messages.filter(({ role }) => role !== "assistant");
  const characters = texts.reduce((sum, { content }) => sum + textLength(content), 0);
  if (characters < contextLength || Array.isArray(rawPrompt)) return;
  const { longestToken } = renderer;
  if (longestToken === undefined) return;
  const least = Math.floor(characters / longestToken);
  if (least >= contextLength) throw new ContextOverflowError(least, contextLength, "least");
}

async function renderPrompt(
  { renderer, contextLength }: PromptPolicy,
  { session, request, trajectoryUid }: SessionCall,
  chain: MessageChain,
  signal: AbortSignal,
): Promise<RenderedPrompt> {
  const { messages, tools, rawPrompt, thinking } = request;
  const options = { tools, contextLength, ...defined({ thinking }) };
  const long = isLong(request) ? renderer.long : undefined;
  if (rawPrompt !== undefined) {
    return session.rawPrompts.render(rawPrompt, renderer, (text) =>
      long ? long.encode(text, options, signal) : renderer.encode?.(text),
    );
  }
  const match = session.conversation.match(messages, chain, trajectoryUid);
  if (match) {
    const previous = match.node.tokens;
    const added = messages.slice(match.covered);
    const extended = long
      ? await long.extend(previous, added, options, signal)
      : renderer.extend(previous, added, options);
    // A trace with a parent begins with the parent's tokens, whatever the renderer did.
    if (extended && hasPrefix(extended.tokens, previous)) {
      return { tokens: extended.tokens, parentId: match.node.traceId };
    }
  }
  const { tokens } = long
    ? await long.render(messages, options, signal)
    : renderer.render(messages, options);
  return { tokens, parentId: null };
}

/**
 * Other calls continue while a long prompt is encoded; short ones are prepared at once.
 * @throws CONTEXT_OVERFLOW, or what the renderer throws for messages it cannot render.
 */
export async function prepareCall(
  policy: PromptPolicy,
  call: SessionCall,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const { request, session } = call;
  const { contextLength, renderer } = policy;
  checkLength(request, policy);
  const chain = chainMessages(request.messages, request.tools);
  const prompt = await renderPrompt(policy, call, chain, signal);
  const room = contextLength - prompt.tokens.length;
  if (policy.promptLimit) checkPrompt(prompt.tokens.length, policy.promptLimit);
  if (room < 1) throw new ContextOverflowError(prompt.tokens.length, contextLength);
  if (
    ![room, request.sampling.maxTokens, session.options.sampling.maxTokens].some(Number.isFinite)
  ) {
    throw badRequest(
      "max_tokens",
      "max_tokens is missing, and the worker does not report its context length.",
    );
  }
  const { sampleKey, sampling } = planCall(call, promptKey(prompt.tokens));
  const maxTokens = Math.min(sampling.maxTokens, room);
  const stopTokenIds = renderer.stop.tokenIds;
  const form = await readOutputForm(request, { group: session.uid, signal });
  const rules = policy.rules === true ? logitRules(request, form, renderer) : undefined;
  const all = { ...sampling, maxTokens, stopTokenIds, ...defined({ rules }) };
  return { ...prompt, chain, sampleKey, sampling: all, form };
}

/** @throws AgentTrainerError (`CONTEXT_OVERFLOW`) */
function checkPrompt(promptTokens: number, { tokens: most, option }: PromptLimit): void {
  if (promptTokens <= most) return;
  throw new AgentTrainerError({
    code: "CONTEXT_OVERFLOW",
    message: `The prompt has ${promptTokens} tokens, but ${option} allows ${most}.`,
    hint: `Shorten the conversation, or raise ${option}.`,
    fields: { promptTokens, option, most },
  });
}
