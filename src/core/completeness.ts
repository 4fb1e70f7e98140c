/**
 * Whether a recorded response is all that the model said, with all that it rests on. One model for every source:
 * only what is complete is learned from, and the rest is counted by its reason.
 */
import { parseObject } from "../util/json-object.ts";
import type { ChatMessage, ToolCall } from "./message.ts";
import { messageText } from "./message-text.ts";
import type { StopReason } from "./policy.ts";
import type { Trajectory } from "./trajectory.ts";

/** Why a response is not whole, the most telling reason first. */
const damageNames = [
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

const isObject = ({ arguments: text }: ToolCall): boolean => parseObject(text) !== null;

/** What a conversation lacks by itself: each call needs its result, except those that it ends in. */
export function conversationDamage(messages: readonly ChatMessage[]): ReadonlySet<Damage> {
  const damage = new Set<Damage>();
  let calls = new Set<string | undefined>();
  let open = new Set<string | undefined>();
  for (const { role, toolCalls = [], toolCallId } of messages) {
    if (role === "tool") {
      if (!calls.has(toolCallId)) damage.add("tool result without its call");
      open.delete(toolCallId);
      continue;
    }
    if (toolCalls.some((call) => !isObject(call))) damage.add("lost arguments");
    if (open.size > 0) damage.add("missing tool result");
    calls = new Set(toolCalls.map(({ id }) => id));
    open = new Set(calls);
  }
  if (open.size > 0 && messages.at(-1)?.role === "tool") damage.add("missing tool result");
  return damage;
}

/** The last call's prompt with its response: all of the conversation, where the agent kept its history. */
export function conversationOf({ steps }: Trajectory): readonly ChatMessage[] {
  const last = steps.at(-1)?.trace;
  return last === undefined ? [] : [...last.messages, last.response];
}

const saidIn = ({ content, toolCalls = [] }: ChatMessage): string =>
  JSON.stringify([messageText(content), toolCalls.map((call) => call.arguments)]);

/** Why the conversation of a trajectory is not whole, or null: one of its responses was cut off, or a result is missing. */
export function trajectoryDamage(trajectory: Trajectory): Damage | null {
  const conversation = conversationOf(trajectory);
  const said = new Set(conversation.filter(({ role }) => role === "assistant").map(saidIn));
  // An agent may have asked again, without what it got first.
  const calls = trajectory.steps
    .filter(({ trace }) => said.has(saidIn(trace.response)))
    .map(({ trace }) => captured(trace.stopReason));
  const all = completenessOf(conversationDamage(conversation), "complete");
  const found = together([...calls, all]);
  return found.state === "cut" ? found.why : null;
}
