/** A call's prompt, sampling and seed: everything that is decided before a token is drawn. */
import { ContextOverflowError } from "../core/errors.ts";
import { defaultSampling, type Renderer, type SamplingParams } from "../core/policy.ts";
import { deriveSeed } from "../util/random.ts";
import { badRequest } from "./api-error.ts";
import type { CallRequest, SamplingChoice } from "./call-request.ts";
import { chainMessages, type MessageChain } from "./conversation.ts";
import { promptKey } from "./prompt-key.ts";
import type { CaptureSession } from "./session.ts";

export interface PreparedCall {
  readonly tokens: Int32Array;
  /** Trace whose tokens the prompt begins with. */
  readonly parentId: string | null;
  readonly chain: MessageChain;
  readonly sampling: SamplingParams;
  /** The same whenever the same draw is made, however calls are ordered; unique in the session. */
  readonly drawKey: string;
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

function render(
  policy: PromptPolicy,
  session: CaptureSession,
  request: CallRequest,
  chain: MessageChain,
  trajectoryUid: string | null,
): { tokens: Int32Array; parentId: string | null } {
  const { messages, tools, rawPrompt } = request;
  if (rawPrompt !== undefined) return session.rawPrompts.render(rawPrompt, policy.renderer);
  const match = session.conversation.match(messages, chain, trajectoryUid);
  if (match) {
    const previous = match.node.tokens;
    const added = messages.slice(match.covered);
    const extended = policy.renderer.extend(previous, added, { tools });
    // Trainers merge rows on the strength of `parentId`, so it is checked, not believed.
    if (extended && startsWith(extended.tokens, previous)) {
      return { tokens: extended.tokens, parentId: match.node.traceId };
    }
  }
  return { tokens: policy.renderer.render(messages, { tools }).tokens, parentId: null };
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

/** @throws ContextOverflowError, or what the renderer throws for messages it cannot render. */
export function prepareCall(
  policy: PromptPolicy,
  session: CaptureSession,
  request: CallRequest,
  trajectoryUid: string | null,
): PreparedCall {
  const chain = chainMessages(request.messages, request.tools);
  const { tokens, parentId } = render(policy, session, request, chain, trajectoryUid);
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

  const asked = promptKey(tokens, session.trajectoryLabel(trajectoryUid));
  const occurrence = session.countOccurrence(asked);
  const seedParts = [asked, occurrence, ...(request.seed === undefined ? [] : [request.seed])];
  return {
    tokens,
    parentId,
    chain,
    drawKey: `${occurrence}:${asked}`,
    sampling: {
      ...merged,
      maxTokens,
      stopTokenIds: policy.renderer.stop.tokenIds,
      seed: deriveSeed(session.options.seed, ...seedParts),
    },
  };
}
