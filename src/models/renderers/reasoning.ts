/** `<think>` ... `</think>` before a response. */
import type { CompletionSyntax } from "../../core/completion-reader.ts";

export const thinkStart = "<think>";
export const thinkEnd = "</think>";

/** As a completion has it. */
export const thinkMarkup: NonNullable<CompletionSyntax["reasoning"]> = {
  start: thinkStart,
  end: thinkEnd,
};

const trimLines = (text: string): string => {
  let [start, end] = [0, text.length];
  while (text[start] === "\n") start++;
  while (end > start && text[end - 1] === "\n") end--;
  return text.slice(start, end);
};

/**
 * The reasoning that clients without support for it send back inside the text: a block that the text begins with.
 * A tag anywhere else is text. `reasoning` is absent where there is none.
 */
export function splitReasoning(text: string): {
  readonly reasoning?: string;
  readonly rest: string;
} {
  const own = text.trimStart();
  const end = own.indexOf(thinkEnd);
  if (end === -1 || !own.startsWith(thinkStart)) return { rest: text };
  return {
    reasoning: trimLines(own.slice(thinkStart.length, end)),
    rest: own.slice(end + thinkEnd.length).replace(/^\n+/u, ""),
  };
}
