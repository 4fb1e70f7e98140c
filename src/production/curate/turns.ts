/**
 * Turns of conversations, rebuilt from spans: what the user said last, and what the agent then did until it
 * answered. A call is in the middle of a turn where another one goes on from it with the results of its tools; so
 * parallel calls, sub-agents and retries need no order of time.
 */
import { createHash } from "node:crypto";
import {
  type Completeness,
  completenessOf,
  conversationDamage,
  type Damage,
  together,
} from "../../core/completeness.ts";
import type { ChatMessage, ToolDefinition } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import { groupBy } from "../../util/group-by.ts";
import { parseObject } from "../../util/json-object.ts";
import type { ModelCall, Span } from "../store/span.ts";
import { type Who, whoOf } from "./who.ts";

export interface Turn extends Who {
  readonly traceId: string;
  readonly responseId?: string;
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
  /** Another answer to the same prompt came later in its trace: this one was not used. */
  readonly isRepeated: boolean;
  /** Why it is not an example; null where it is one. */
  readonly flaw: "unfinished" | "images" | "empty" | Damage | null;
  /** Whether its record says that the answer ended by itself. */
  readonly isEndKnown: boolean;
}

export interface Rebuilt {
  readonly turns: readonly Turn[];
  readonly withoutText: number;
  /** Calls of models that failed. */
  readonly failed: number;
}

interface Call {
  readonly span: Span;
  readonly who: Who;
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

/** No arguments may be sent back as an empty object. */
function compact(json: string): string {
  const value = parseObject(json);
  return value === null ? json || "{}" : JSON.stringify(value);
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

/** A tool without parameters is called with nothing; some record that as no text. */
function withArguments(message: ChatMessage, tools: readonly ToolDefinition[]): ChatMessage {
  const { toolCalls } = message;
  if (toolCalls?.some((call) => call.arguments === "") !== true) return message;
  const takesNothing = (name: string): boolean => {
    const tool = tools.find((one) => one.name === name);
    return tool !== undefined && Object.keys(tool.parameters?.["properties"] ?? {}).length === 0;
  };
  return {
    ...message,
    toolCalls: toolCalls.map((call) =>
      call.arguments === "" && takesNothing(call.name) ? { ...call, arguments: "{}" } : call,
    ),
  };
}

/** What ends a response early is damage also where the agent went on. */
const earlyEnds: ReadonlySet<Damage> = new Set(["cut off", "filtered", "interrupted"]);

/** Stores of earlier versions say how a response ended, and nothing else. */
function completenessIn(model: ModelCall): Completeness {
  const earlier = model as Partial<ModelCall> & { readonly stopReason?: "stop" | "length" };
  if (earlier.completeness !== undefined) return earlier.completeness;
  if (earlier.stopReason === "length") return { state: "cut", why: "cut off" };
  return { state: earlier.stopReason === "stop" ? "complete" : "unknown" };
}

/** Of the answer and of all responses of its turn that were recorded by themselves. */
function completenessOfTurn(
  call: Call,
  begin: number,
  byPrompt: ReadonlyMap<string, readonly Call[]>,
): Completeness {
  const earlier = call.model.messages.slice(begin).flatMap((message, i) => {
    if (message.role !== "assistant") return [];
    const own = byPrompt.get(call.prefixes[begin + i]!) ?? [];
    return own
      .filter(({ response }) => keyOf(response) === keyOf(message))
      .map(({ model }) => completenessIn(model))
      .filter((one) => one.state !== "cut" || earlyEnds.has(one.why));
  });
  return together([completenessIn(call.model), ...earlier]);
}

interface TurnContext {
  readonly mainDepth: number;
  readonly isUnfinished: boolean;
  readonly isRepeated: boolean;
  readonly byPrompt: ReadonlyMap<string, readonly Call[]>;
}

function turnOf(call: Call, context: TurnContext): Turn {
  const { span, who, model, response, depth } = call;
  const messages = [...model.messages, response].map((one) => withArguments(one, model.tools));
  const asked = messages.findLastIndex(({ role }) => role === "user") + 1;
  // Without a question, what comes before the first answer was asked.
  const begin = asked > 0 ? asked : messages.findIndex(({ role }) => role === "assistant");
  const { responseId, weightVersion } = model;
  const recorded = completenessOfTurn(call, begin, context.byPrompt);
  const whole = completenessOf(conversationDamage(messages), "complete");
  const completeness = together([recorded, whole]);
  return {
    traceId: span.traceId,
    ...who,
    ...(responseId === undefined ? {} : { responseId }),
    ...(weightVersion === undefined ? {} : { weightVersion }),
    model: model.model,
    prompt: messages.slice(0, begin),
    completion: messages.slice(begin),
    tools: model.tools,
    at: span.endMs,
    isSubAgent: depth > context.mainDepth,
    isRepeated: context.isRepeated,
    flaw: messages.some(hasImages)
      ? "images"
      : completeness.state === "cut"
        ? completeness.why
        : context.isUnfinished
          ? "unfinished"
          : messageText(response.content) === ""
            ? "empty"
            : null,
    isEndKnown: completeness.state === "complete",
  };
}

/** @param spans of one conversation */
export function rebuildTurns(spans: readonly Span[]): Rebuilt {
  const byId = new Map(spans.map((span) => [span.id, span]));
  const who = whoOf(spans);
  let [withoutText, failed] = [0, 0];
  const calls: Call[] = [];
  for (const span of spans.toSorted((a, b) => a.endMs - b.endMs)) {
    const { model } = span;
    if (model === undefined) continue;
    const isSilent = model.messages.length === 0 && completenessIn(model).state !== "cut";
    if (span.error !== undefined || (model.response === null && !isSilent)) failed++;
    else if (isSilent || model.response === null) withoutText++;
    else {
      calls.push({
        span,
        who: who(span),
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
  const byPrompt = groupBy(calls, ({ prefixes }) => prefixes.at(-1)!);
  // The last answer in a trace is the one that the program took; in another trace it was asked again.
  const last = new Map(
    calls.map((call) => [`${call.span.traceId} ${call.prefixes.at(-1)!}`, call]),
  );
  const mainDepth = Math.min(...calls.map(({ depth }) => depth));
  const turns = calls.flatMap((call) => {
    const key = call.prefixes.at(-1)!;
    const isUnfinished = (call.response.toolCalls ?? []).length > 0;
    if (isUnfinished && continued.has(key)) return [];
    const isRepeated = last.get(`${call.span.traceId} ${key}`) !== call;
    return [turnOf(call, { mainDepth, isUnfinished, isRepeated, byPrompt })];
  });
  return { turns, withoutText, failed };
}
