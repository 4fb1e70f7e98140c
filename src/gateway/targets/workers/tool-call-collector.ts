/**
 * Tool calls from their parts. Servers differ in how they say which call a part belongs to: by an index, by an
 * id, by nothing; some give every call the same index, or repeat id and name in every part.
 */
import type { ToolCall } from "../../../core/message.ts";
import { isJsonObject } from "../../../util/json-object.ts";
import type { ToolCallPart } from "./adapters/response-part.ts";

interface OpenCall {
  readonly index: number | undefined;
  readonly order: number;
  id: string;
  name: string;
  arguments: string;
}

/** Whether an object has been written to its end, after which nothing can follow. */
function isComplete(text: string): boolean {
  // Most parts end in the middle of something.
  if (!/[}\s]/u.test(text.at(-1) ?? "")) return false;
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

const opensObject = (text: string): boolean => /^\s*\{/u.test(text);

export class ToolCallCollector {
  readonly #calls: OpenCall[] = [];

  /** In the order of their indexes, each with an id that no other has or none; no arguments are an empty object. */
  get calls(): readonly ToolCall[] {
    const used = new Set<string>();
    return this.#calls
      .toSorted((a, b) => a.order - b.order)
      .map(({ id, name, arguments: text }) => {
        const isRepeated = used.has(id);
        used.add(id);
        const isNone = text.trim() === "" || text.trim() === "null";
        return { id: isRepeated ? "" : id, name, arguments: isNone ? "{}" : text };
      });
  }

  /** Returns what is wrong with the part, if it belongs to no call. */
  add(part: ToolCallPart): string | undefined {
    const { id = "", name = "", arguments: text = "" } = part;
    const call = part.isWhole === true ? undefined : this.#continuedBy(part);
    if (!call) {
      if (name === "" && id === "") return "sent arguments of a tool call that it had not begun";
      this.#begin(part);
      return undefined;
    }
    if (call.id === "") call.id = id;
    if (call.name === "") call.name = name;
    if (text === call.arguments && id !== "" && isComplete(text)) return undefined;
    if (!opensObject(text) || !isComplete(call.arguments)) call.arguments += text;
    // Begun with an empty object, as Anthropic's API does it.
    else if (call.arguments.trim() === "{}") call.arguments = text;
    else return "sent arguments of a tool call after their end";
    return undefined;
  }

  /** What is wrong with the calls of a response that is complete. */
  problem(): string | undefined {
    const isUnnamed = this.#calls.some(({ name }) => name === "");
    return isUnnamed ? "sent a tool call without a name" : undefined;
  }

  #continuedBy({ index, id = "", name = "", arguments: text = "" }: ToolCallPart) {
    const isCandidate = (call: OpenCall): boolean =>
      index !== undefined ? call.index === index : id === "" || call.id === id;
    // An id alone may be made anew for each part.
    const call =
      this.#calls.findLast(isCandidate) ?? (name === "" ? this.#calls.at(-1) : undefined);
    if (!call || name === "") return call;
    const isOther =
      (id !== "" && call.id !== "" && id !== call.id) || (call.name !== "" && name !== call.name);
    if (isOther) return undefined;
    const isAgain = id !== "" && text === call.arguments;
    return text.trim() !== "" && !isAgain && isComplete(call.arguments) ? undefined : call;
  }

  #begin({ index, id = "", name = "", arguments: text = "" }: ToolCallPart): void {
    const orders = this.#calls.map(({ order }) => order);
    const isFree = index !== undefined && !orders.includes(index);
    const order = isFree ? index : Math.max(-1, ...orders) + 1;
    this.#calls.push({ index, order, id, name, arguments: text });
  }
}
