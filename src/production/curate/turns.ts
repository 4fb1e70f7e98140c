/**
 * Turns of conversations, rebuilt from spans: what the user said last, and what the agent then did until it
 * answered. A call is in the middle of a turn where another one goes on from it with the results of its tools; so
 * parallel calls, sub-agents and retries need no order of time.
 */
import { createHash } from "node:crypto";
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import type { ModelCall, Span } from "../store/span.ts";

export interface Turn {
  readonly traceId: string;
  readonly conversationId?: string;
  readonly responseId?: string;
  readonly user?: string;
  readonly model: string;
  readonly weightVersion?: number;
  /** Up to the user's last message. */
  readonly prompt: readonly ChatMessage[];
  /** From there to the answer: calls of tools, their results, the answer. */
  readonly completion: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Milliseconds since the epoch, of the answer. */
  readonly at: number;
  /** Answered for another agent, not for the user. */
  readonly isSubAgent: boolean;
  /** Why it is no example; null where it is one. */
  readonly flaw: "unfinished" | "cut off" | "images" | null;
}

export interface Rebuilt {
  readonly turns: readonly Turn[];
  readonly withoutText: number;
  /** Calls of models that failed. */
  readonly failed: number;
  /** Calls that repeat one with the same prompt. */
  readonly retries: number;
}

interface Call {
  readonly span: Span;
  readonly model: ModelCall;
  readonly response: ChatMessage;
  /** [i] of the first i messages. */
  readonly prefixes: readonly string[];
  readonly depth: number;
}

/** Ids of calls and thoughts are not sent back by every program. */
function keyOf({ role, content, toolCalls }: ChatMessage): string {
  const calls = (toolCalls ?? []).map(({ name, arguments: given }) => [name, compact(given)]);
  return JSON.stringify([role, content, calls]);
}

function compact(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}

function prefixHashes(messages: readonly ChatMessage[]): readonly string[] {
  const hashes = [""];
  for (const message of messages)
    hashes.push(
      createHash("sha256").update(hashes.at(-1)!).update(keyOf(message)).digest("base64"),
    );
  return hashes;
}

/** How many agents and tools are above a span; a parent that is missing or a circle ends the way. */
function depthOf(span: Span, byId: ReadonlyMap<string, Span>): number {
  let depth = 0;
  const seen = new Set<string>();
  for (let at = span.parentId; at !== null && !seen.has(at);) {
    seen.add(at);
    const parent = byId.get(at);
    if (parent === undefined) break;
    if (parent.kind === "tool" || parent.kind === "agent") depth++;
    at = parent.parentId;
  }
  return depth;
}

const hasImages = ({ content }: ChatMessage): boolean =>
  typeof content !== "string" && content.some(({ type }) => type === "image");

function turnOf(call: Call, isUnfinished: boolean, mainDepth: number): Turn {
  const { span, model, response, depth } = call;
  const messages = [...model.messages, response];
  const begin = messages.findLastIndex(({ role }) => role === "user") + 1;
  const { traceId, conversationId, user } = span;
  const { responseId, weightVersion } = model;
  return {
    traceId,
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(responseId === undefined ? {} : { responseId }),
    ...(user === undefined ? {} : { user }),
    ...(weightVersion === undefined ? {} : { weightVersion }),
    model: model.model,
    prompt: messages.slice(0, begin),
    completion: messages.slice(begin),
    tools: model.tools,
    at: span.endMs,
    isSubAgent: depth > mainDepth,
    flaw: messages.some(hasImages)
      ? "images"
      : isUnfinished
        ? "unfinished"
        : model.stopReason === "length" || messageText(response.content) === ""
          ? "cut off"
          : null,
  };
}

/** What a span lacks, another one of its trace may have: only one of them names the user. */
function shared(
  spans: readonly Span[],
): ReadonlyMap<string, Pick<Span, "user" | "conversationId">> {
  const found = new Map<string, { user?: string; conversationId?: string }>();
  for (const { traceId, user, conversationId } of spans) {
    const own = found.get(traceId) ?? {};
    if (user !== undefined) own.user ??= user;
    if (conversationId !== undefined) own.conversationId ??= conversationId;
    found.set(traceId, own);
  }
  return found;
}

/** @param spans of one conversation */
export function rebuildTurns(spans: readonly Span[]): Rebuilt {
  const byId = new Map(spans.map((span) => [span.id, span]));
  const common = shared(spans);
  let [withoutText, failed, retries] = [0, 0, 0];
  const calls: Call[] = [];
  for (const span of spans.toSorted((a, b) => a.endMs - b.endMs)) {
    const { model } = span;
    if (model === undefined) continue;
    const isSilent = model.messages.length === 0;
    if (span.error !== undefined || (model.response === null && !isSilent)) failed++;
    else if (isSilent || model.response === null) withoutText++;
    else {
      calls.push({
        span: { ...span, ...common.get(span.traceId) },
        model,
        response: model.response,
        prefixes: prefixHashes(model.messages),
        depth: depthOf(span, byId),
      });
    }
  }
  // Prompts after which another call has the assistant's message and a result of a tool.
  const continued = new Set<string>();
  for (const { prefixes, model } of calls) {
    for (const [i, message] of model.messages.entries())
      if (message.role === "assistant" && model.messages[i + 1]?.role === "tool")
        continued.add(prefixes[i]!);
  }
  const byPrompt = new Map<string, Call>();
  for (const call of calls) {
    const key = call.prefixes.at(-1)!;
    if (byPrompt.has(key)) retries++;
    // The last answer is the one that the program took.
    byPrompt.set(key, call);
  }
  const mainDepth = Math.min(...calls.map(({ depth }) => depth));
  const turns = [...byPrompt].flatMap(([key, call]) => {
    const makesCalls = (call.response.toolCalls ?? []).length > 0;
    return makesCalls && continued.has(key) ? [] : [turnOf(call, makesCalls, mainDepth)];
  });
  return { turns, withoutText, failed, retries };
}
