/**
 * Calls between `<tool_call>` and `</tool_call>`, several for parallel calls. A tag inside a call that has not ended by
 * its own grammar is text of the call.
 */
import type { CallSyntax, FoundCalls } from "../../../core/completion-reader.ts";
import type { MarkedText } from "../../../core/marked-text.ts";
import type { ToolDefinition } from "../../../core/message.ts";
import { defined } from "../../../util/defined.ts";
import type { ReadCall } from "./tool-format.ts";

export const callStart = "<tool_call>";
export const callEnd = "</tool_call>";

/** Characters after a tag in which a call begins, where tags are not tokens. */
const longestGap = 64;
/** Tags in one call that are tried as its end. */
const mostEnds = 64;

export interface TaggedBody {
  /** What every body begins with, after white space. */
  readonly begins: string;
  /** Whether a body is whole that ends there; asked again with the same body and more. */
  readonly scan: () => (body: string) => boolean;
  readonly read: (body: string, tools: readonly ToolDefinition[] | undefined) => ReadCall;
}

/** Where calls begin: at a token, or at a tag that is followed by what a call begins with. */
export function findCalls(
  text: MarkedText,
  from: number,
  start: string,
  begins: string,
): ReturnType<CallSyntax["find"]> {
  for (let at = text.find(start, from); at !== -1; at = text.find(start, at + 1)) {
    if (text.isToken(start)) return { at, isFound: true };
    const gap = text.slice(at + start.length).slice(0, longestGap);
    const after = gap.trimStart();
    if (after.startsWith(begins)) return { at, isFound: true };
    const isOpen = gap.length < longestGap && !text.isWhole;
    if (isOpen && begins.startsWith(after)) return { at, isFound: false };
  }
  return { at: text.certainWithout(start), isFound: false };
}

export function taggedCalls({ begins, scan, read }: TaggedBody): CallSyntax {
  return {
    marks: [callStart, callEnd],
    find: (text, from) => findCalls(text, from, callStart, begins),
    open(text, start, tools) {
      const bodyAt = start + callStart.length;
      const isWhole = scan();
      const ends: number[] = [];
      let from = bodyAt;
      const readTo = (end: number): FoundCalls => {
        const call = read(text.slice(bodyAt, end), tools);
        const after = end + callEnd.length;
        if (typeof call === "string") return { end: after, calls: [], malformed: call };
        const { malformed, ...rest } = call;
        return { end: after, calls: [rest], ...defined({ malformed }) };
      };
      return () => {
        for (;;) {
          const end = text.find(callEnd, from);
          const [first] = ends;
          // A call that begins as a token after an end cannot be inside this one.
          const next =
            first === undefined || !text.isToken(callStart) ? -1 : text.find(callStart, from);
          const isOver = next !== -1 && (end === -1 || next < end);
          if (end !== -1 && !isOver) {
            if (isWhole(text.slice(bodyAt, end))) return readTo(end);
            ends.push(end);
            from = end + callEnd.length;
            if (ends.length < mostEnds) continue;
          } else if (!isOver && !text.isWhole) {
            // What was searched is not searched again.
            from = Math.max(from, text.length - callEnd.length + 1);
            return null;
          }
          if (ends[0] !== undefined) return readTo(ends[0]);
          return {
            end: text.length,
            calls: [],
            malformed: `a tool call is not closed by ${callEnd}`,
          };
        }
      };
    },
  };
}
