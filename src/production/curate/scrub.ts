/** Takes personal data out of a turn, by rules and by a hook, before any of it is written. */
import type { ChatMessage, JsonValue, ToolCall } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import { PersonalData } from "./personal-data.ts";
import type { Turn } from "./turns.ts";

/** Returns a text without what must not be trained on; null drops the turn. */
export type ScrubHook = (text: string) => string | null | Promise<string | null>;

/** The turn and a correction of it: the same value has the same name in both. */
export interface Scrubbed {
  readonly turn: Turn;
  readonly correction: string | null;
  readonly found: ReadonlyMap<string, number>;
}

class Dropped extends Error {}

/** null where the hook dropped it. */
export async function scrubTurn(
  turn: Turn,
  correction: string | null,
  hook: ScrubHook | null,
): Promise<Scrubbed | null> {
  const data = new PersonalData();
  const clean = async (text: string): Promise<string> => {
    const replaced = data.replace(text);
    const result = hook === null || replaced === "" ? replaced : await hook(replaced);
    if (result === null) throw new Dropped();
    return result;
  };
  /** Numbers too: a card's may be one. */
  const cleanValue = async (value: JsonValue): Promise<JsonValue> => {
    if (typeof value === "string") return await clean(value);
    if (typeof value === "number") {
      const text = await clean(String(value));
      return text === String(value) ? value : text;
    }
    if (Array.isArray(value)) return await eachOf(value as readonly JsonValue[], cleanValue);
    if (typeof value !== "object" || value === null) return value;
    const entries = await eachOf(
      Object.entries(value),
      async ([key, own]) => [key, await cleanValue(own)] as const,
    );
    return Object.fromEntries(entries);
  };
  const cleanCall = async (call: ToolCall): Promise<ToolCall> => {
    let value: JsonValue;
    try {
      value = JSON.parse(call.arguments) as JsonValue;
    } catch {
      return { ...call, arguments: await clean(call.arguments) };
    }
    return { ...call, arguments: JSON.stringify(await cleanValue(value)) };
  };
  const cleanMessage = async (message: ChatMessage): Promise<ChatMessage> => ({
    ...message,
    content: await clean(messageText(message.content)),
    ...(message.reasoning === undefined ? {} : { reasoning: await clean(message.reasoning) }),
    ...(message.toolCalls === undefined
      ? {}
      : { toolCalls: await eachOf(message.toolCalls, cleanCall) }),
  });
  try {
    const prompt = await eachOf(turn.prompt, cleanMessage);
    const completion = await eachOf(turn.completion, cleanMessage);
    return {
      turn: { ...turn, prompt, completion },
      correction: correction === null ? null : await clean(correction),
      found: data.counts,
    };
  } catch (error) {
    if (error instanceof Dropped) return null;
    throw error;
  }
}

/** One after the other: values are numbered in the order of the conversation. */
async function eachOf<T, U>(list: readonly T[], change: (one: T) => Promise<U>): Promise<U[]> {
  const result: U[] = [];
  for (const one of list) result.push(await change(one));
  return result;
}
