/** A call's prompt, sampling and seed: everything that is decided before a token is sampled. */
import { ContextOverflowError } from "../../core/errors.ts";
import type { ChatMessage } from "../../core/message.ts";
import { defaultSampling, type Renderer, type SamplingParams } from "../../core/policy.ts";
import { deriveSeed } from "../../util/random.ts";
import { badRequest } from "../http/api-error.ts";
import type { CallRequest, SamplingChoice } from "./call-request.ts";
import { chainMessages, type MessageChain } from "../session/conversation.ts";
import { promptKey } from "../session/prompt-key.ts";
import type { CaptureSession } from "../session/session.ts";

export interface PreparedCall {
  readonly tokens: Int32Array;
  /** Trace whose tokens the prompt begins with. */
  readonly parentId: string | null;
  readonly chain: MessageChain;
  readonly sampling: SamplingParams;
  /** The same whenever the same request is sampled, however calls are ordered; unique in the session. */
  readonly sampleKey: string;
}

/** What prompts are made for. */
export interface PromptPolicy {
  readonly renderer: Renderer;
  /** Longest prompt + completion, in tokens. */
  readonly contextLength: number;
}

/** Id by id. */
export function startsWith(tokens: Int32Array, start: Int32Array): boolean {
  if (tokens.length < start.length) return false;
  for (let i = 0; i < start.length; i++) if (tokens[i] !== start[i]) return false;
  return true;
}

/** Characters of text beyond which others are to get their turn while it is encoded. */
const longText = 16_384;

function textLength(content: ChatMessage["content"]): number {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0), 0);
}

function isLong({ messages, rawPrompt }: CallRequest): boolean {
  if (rawPrompt !== undefined) return rawPrompt.length > longText;
  let length = 0;
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
  // A template may leave out what a model wrote.
  const texts = messages.filter(({ role }) => role !== "assistant");
  const characters = texts.reduce((sum, { content }) => sum + textLength(content), 0);
  if (characters < contextLength || Array.isArray(rawPrompt)) return;
  const { longestToken } = renderer;
  if (longestToken === undefined) return;
  const least = Math.floor(characters / longestToken);
  if (least >= contextLength) throw new ContextOverflowError(least, contextLength, "least");
}

async function render(
  { renderer, contextLength }: PromptPolicy,
  session: CaptureSession,
  request: CallRequest,
  chain: MessageChain,
  trajectoryUid: string | null,
  signal: AbortSignal,
): Promise<{ tokens: Int32Array; parentId: string | null }> {
  const { messages, tools, rawPrompt } = request;
  const options = { tools, contextLength };
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
    // Trainers merge rows on the strength of `parentId`, so it is checked, not believed.
    if (extended && startsWith(extended.tokens, previous)) {
      return { tokens: extended.tokens, parentId: match.node.traceId };
    }
  }
  const { tokens } = long
    ? await long.render(messages, options, signal)
    : renderer.render(messages, options);
  return { tokens, parentId: null };
}

/** What is really used; `maxTokens` is Infinity where nobody chose. */
type MergedSampling = Omit<SamplingParams, "seed" | "stopTokenIds">;

/** The trainer's choice wins over the client's; of two limits, the smaller one. */
export function mergeSampling(client: SamplingChoice, enforced: SamplingChoice): MergedSampling {
  const defaults: MergedSampling = { ...defaultSampling, maxTokens: Infinity };
  const pick = <K extends keyof SamplingChoice>(name: K): SamplingParams[K] =>
    enforced[name] ?? client[name] ?? defaults[name];
  return {
    temperature: pick("temperature"),
    topP: pick("topP"),
    topK: pick("topK"),
    minP: pick("minP"),
    maxTokens: Math.min(enforced.maxTokens ?? Infinity, client.maxTokens ?? Infinity),
  };
}

/**
 * Others are answered while a long prompt is encoded; short ones are prepared at once.
 * @throws ContextOverflowError, or what the renderer throws for messages it cannot render.
 */
export async function prepareCall(
  policy: PromptPolicy,
  session: CaptureSession,
  request: CallRequest,
  trajectoryUid: string | null,
  signal: AbortSignal,
): Promise<PreparedCall> {
  checkLength(request, policy);
  const chain = chainMessages(request.messages, request.tools);
  const { tokens, parentId } = await render(policy, session, request, chain, trajectoryUid, signal);
  const { contextLength } = policy;
  const room = contextLength - tokens.length;
  if (room < 1) throw new ContextOverflowError(tokens.length, contextLength);
  const merged = mergeSampling(request.sampling, session.options.sampling);
  const maxTokens = Math.min(merged.maxTokens, room);
  if (!Number.isFinite(maxTokens)) {
    throw badRequest(
      "max_tokens",
      "max_tokens is missing, and the worker does not tell how long its context is.",
    );
  }

  const requested = promptKey(tokens, session.trajectoryLabel(trajectoryUid));
  const occurrence = session.countOccurrence(requested);
  const seedParts = [requested, occurrence, ...(request.seed === undefined ? [] : [request.seed])];
  return {
    tokens,
    parentId,
    chain,
    sampleKey: `${occurrence}:${requested}`,
    sampling: {
      ...merged,
      maxTokens,
      stopTokenIds: policy.renderer.stop.tokenIds,
      seed: deriveSeed(session.options.seed, ...seedParts),
    },
  };
}
