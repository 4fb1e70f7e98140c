/** What the gateway lets pass, since servers do, but what no example should teach. */
import { show } from "../../../gateway/http/json-fields.ts";
import { isJsonObject, type JsonFields, listOf, parseObject } from "../../../util/json-object.ts";
import { RowError } from "./row-error.ts";

const said = ["content", "refusal", "reasoning_content", "reasoning"] as const;

/** A model that learned other arguments would make calls that nothing can execute. */
function checkArguments(call: JsonFields, name: string, at: string): void {
  const given = isJsonObject(call["function"]) ? call["function"]["arguments"] : undefined;
  if (typeof given === "string" && parseObject(given) === null)
    throw new RowError(at, `${name}.function.arguments is not a JSON object: ${show(given)}.`);
}

/** A call of the last assistant message; `id` is undefined where the data has none. */
interface Call {
  readonly id: unknown;
  readonly completed: unknown;
}

/** Calls and results whose ids are missing get them, in order. */
class Pairing {
  #calls: readonly Call[] = [];
  #open: readonly Call[] = [];
  readonly #at: string;

  constructor(at: string) {
    this.#at = at;
  }

  /** The call that a result is of. @throws RowError where there is none */
  answer(id: unknown, i: number): Call {
    if (this.#calls.length === 0)
      throw new RowError(
        this.#at,
        `messages[${i}] is the result of a tool, but no tool was called.`,
      );
    const matches = (call: Call): boolean =>
      id === undefined || call.id === undefined || call.id === id;
    const call = this.#open.find(matches) ?? this.#calls.find(matches);
    if (call === undefined) {
      const known = this.#calls.map((each) => show(each.id)).join(", ");
      throw new RowError(
        this.#at,
        `messages[${i}].tool_call_id is ${show(id)}, but the calls before it are ${known}.`,
      );
    }
    this.#open = this.#open.filter((each) => each !== call);
    return call;
  }

  /** OpenAI's API refuses it too: the message would rest on a result that is not there. */
  next(calls: readonly Call[], i: number): void {
    const missing = this.#open.map(({ completed }) => show(completed)).join(", ");
    if (missing !== "") {
      throw new RowError(
        this.#at,
        `messages[${i}] follows ${this.#open.length === 1 ? "the call" : "the calls"} ${missing} without a result.`,
        "Add the result of the tool after the call, or remove the call.",
      );
    }
    this.#calls = calls;
    this.#open = calls;
  }
}

/**
 * The messages, with the ids of calls completed.
 * @throws RowError for calls that nothing can execute, results of no call, and calls without a result.
 */
export function pairCalls(list: readonly unknown[], at: string): readonly unknown[] {
  const pairing = new Pairing(at);
  return list.map((message, i) => {
    if (!isJsonObject(message)) return message;
    const { role, tool_call_id: id, tool_calls: given } = message;
    if (role === "tool") return { ...message, tool_call_id: pairing.answer(id, i).completed };
    const made = role === "assistant" ? listOf(given) : [];
    if (
      role === "assistant" &&
      made.length === 0 &&
      said.every((field) => message[field] === undefined)
    )
      throw new RowError(at, `messages[${i}] has neither content nor tool_calls.`);
    for (const [k, call] of made.entries())
      checkArguments(call, `messages[${i}].tool_calls[${k}]`, at);
    const completed = made.map((call, k) => ({ id: `call_${k}`, ...call }));
    pairing.next(
      completed.map((call, k) => ({ id: made[k]?.["id"], completed: call.id })),
      i,
    );
    return made.length === listLength(given) && made.length > 0
      ? { ...message, tool_calls: completed }
      : message;
  });
}

const listLength = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
