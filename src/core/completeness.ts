/**
 * Whether a recorded response is all that the model said, with all that it rests on. One model for every source:
 * only what is complete is learned from, and the rest is counted by its reason.
 */
import { parseObject } from "../util/json-object.ts";
import type { ChatMessage, ToolCall } from "./message.ts";
import type { StopReason } from "./policy.ts";

/** Why a response is not whole, the most telling reason first. */
export const damageNames = [
  /** By the limit of tokens, of the request or of the context. */
  "cut off",
  /** A safety filter ended or replaced it. */
  "filtered",
  /** It failed, was cancelled, or has not ended. */
  "interrupted",
  /** The telemetry shortened or dropped an attribute. */
  "attribute limit",
  /** A text is absent or masked. */
  "missing text",
  /** A call of a tool is lost, or its arguments are not a JSON object. */
  "lost arguments",
  "missing tool result",
  "tool result without its call",
  /** Earlier messages are only kept by the service. */
  "missing messages",
  /** The service ran a tool itself. */
  "tool of the service",
  /** Content of a type that is not known here. */
  "unknown item",
  /** Several choices or conversations in one call: which one was used is not recorded. */
  "several answers",
] as const;
export type Damage = (typeof damageNames)[number];

/** `unknown`: the record does not say how the response ended, and nothing speaks against it. */
export type Completeness =
  | { readonly state: "complete" | "unknown" }
  | { readonly state: "cut"; readonly why: Damage };

export const complete: Completeness = { state: "complete" };

/** @param otherwise what it is where nothing is damaged */
export function completenessOf(
  damage: ReadonlySet<Damage>,
  otherwise: "complete" | "unknown",
): Completeness {
  const why = damageNames.find((name) => damage.has(name));
  return why === undefined ? { state: otherwise } : { state: "cut", why };
}

/** Of a call that this package captured. */
export function captured(stopReason: StopReason): Completeness {
  if (stopReason === "stop") return complete;
  return { state: "cut", why: stopReason === "length" ? "cut off" : "interrupted" };
}

/** Of several calls together: the first that is cut, else whether one is unknown. */
export function together(all: readonly Completeness[]): Completeness {
  return (
    all.find(({ state }) => state === "cut") ??
    all.find(({ state }) => state === "unknown") ??
    complete
  );
}

const resultsAfter = (messages: readonly ChatMessage[], i: number): readonly ChatMessage[] => {
  const end = messages.findIndex(({ role }, k) => k > i && role !== "tool");
  return messages.slice(i + 1, end < 0 ? messages.length : end);
};

const isObject = ({ arguments: text }: ToolCall): boolean => parseObject(text) !== null;

/** What a conversation lacks by itself: each call needs its result, except those that it ends in. */
export function conversationDamage(messages: readonly ChatMessage[]): ReadonlySet<Damage> {
  const damage = new Set<Damage>();
  for (const [i, { role, toolCalls = [] }] of messages.entries()) {
    if (toolCalls.some((call) => !isObject(call))) damage.add("lost arguments");
    if (role === "tool") continue;
    const calls = new Set(toolCalls.map(({ id }) => id));
    const results = new Set(resultsAfter(messages, i).map(({ toolCallId }) => toolCallId));
    const isLast = i === messages.length - 1;
    if (!isLast && [...calls].some((id) => !results.has(id))) damage.add("missing tool result");
    if ([...results].some((id) => id === undefined || !calls.has(id)))
      damage.add("tool result without its call");
  }
  if (messages[0]?.role === "tool") damage.add("tool result without its call");
  return damage;
}
