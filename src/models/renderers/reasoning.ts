/** `<think>` ... `</think>` before a response. Text only. */
import type { ParsedCompletion } from "../../core/policy.ts";

export const thinkStart = "<think>";
export const thinkEnd = "</think>";

const trimLines = (text: string): string => text.replace(/^\n+|\n+$/g, "");

/** Reasoning and what follows it; `reasoning` is absent where there is none. */
export function splitReasoning(
  text: string,
  startsInside = false,
): { readonly reasoning?: string; readonly rest: string } {
  const end = text.indexOf(thinkEnd);
  const opens = text.trimStart().startsWith(thinkStart);
  const start = opens ? text.indexOf(thinkStart) + thinkStart.length : 0;
  // The opening tag may be in the prompt, and a model may forget it; the closing one is decisive.
  if (end === -1) {
    return opens || startsInside
      ? { reasoning: trimLines(text.slice(start)), rest: "" }
      : { rest: text };
  }
  return {
    reasoning: trimLines(text.slice(start, end)),
    rest: text.slice(end + thinkEnd.length).replace(/^\n+/, ""),
  };
}

/** Splits off the reasoning; the rest is parsed by `parse`. Calls inside the reasoning are not calls. */
export function parseWithReasoning(
  text: string,
  parse: (text: string) => ParsedCompletion,
  startsInside = false,
): ParsedCompletion {
  const { reasoning, rest } = splitReasoning(text, startsInside);
  const parsed = parse(rest);
  // An empty block is no reasoning.
  return reasoning === undefined || reasoning === "" ? parsed : { ...parsed, reasoning };
}
