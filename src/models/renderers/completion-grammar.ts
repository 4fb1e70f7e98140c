/** The completions of a family that have a requested form. */
import type { Grammar } from "../../core/grammar.ts";
import type { CompletionForm } from "../../core/policy.ts";
import type { ToolFormat } from "./tool-formats/tool-format.ts";

/** Null where the family's calls have no grammar. */
export function completionGrammar(
  format: ToolFormat["grammar"],
  { content, tools, strict, minCalls, maxCalls }: CompletionForm,
): Grammar | null {
  if (tools.length === 0) return content ?? null;
  if (format === undefined) return null;
  const one: Grammar = {
    type: "choice",
    options: tools.map((tool) => format.call(tool, strict.includes(tool.name))),
  };
  const { separator, start, wrap } = format;
  const several: Grammar = { type: "repeat", part: one, min: 1, max: maxCalls, separator };
  const calls = wrap?.(several) ?? several;
  if (minCalls > 0) return calls;
  if (content !== undefined) return { type: "choice", options: [content, calls] };
  // Text that is no call cannot be told from one that is being written.
  if (start === null) return null;
  const text: Grammar = { type: "text", without: [start] };
  if (wrap === undefined) return { type: "sequence", parts: [text, { ...several, min: 0 }] };
  return { type: "choice", options: [text, { type: "sequence", parts: [text, calls] }] };
}

/** The same after reasoning that the model may begin with. */
export function afterReasoning(grammar: Grammar, start: string, end: string): Grammar {
  const reasoning: Grammar = {
    type: "sequence",
    parts: [
      { type: "tag", text: start },
      { type: "text", without: [start, end] },
      { type: "tag", text: end },
      { type: "literal", text: "\n\n" },
    ],
  };
  return { type: "choice", options: [grammar, { type: "sequence", parts: [reasoning, grammar] }] };
}
