/**
 * What the lineages of a trajectory are for, as far as what was captured tells: agents do not report it. For metrics
 * and people; nothing is trained or left out by it.
 */
import type { Lineage } from "./lineages.ts";
import { messageText } from "./message-text.ts";
import type { Trace } from "./trace.ts";
import type { Step } from "./trajectory.ts";

/**
 * `summary`: a call whose text the first prompt of a later lineage holds. `sub_agent`: a call in a lineage that a
 * tool call of another one asked for. Rules for side calls of these names say so as well.
 */
export type CallKind = "summary" | "sub_agent";

/** Shorter texts, such as "yes", occur everywhere. */
const minText = 16;
/** As much of a text is looked for. */
const maxText = 200;
/** Calls before a lineage that may have led to it. */
const lookBack = 8;

const needleOf = (text: string): string | null => {
  const trimmed = text.trim();
  return trimmed.length < minText ? null : trimmed.slice(0, maxText);
};

/** What the agent wrote to begin a conversation: not what tools returned, nor history. */
const instructionsOf = ({ messages }: Trace): readonly string[] =>
  messages
    .filter(({ role }) => role === "system" || role === "user")
    .map(({ content }) => messageText(content));

const holds = (texts: readonly string[], needle: string | null): boolean =>
  needle !== null && texts.some((text) => text.includes(needle));

/** The texts in the arguments of a tool call. */
function argumentTexts(json: string): string[] {
  try {
    const values: unknown = JSON.parse(json);
    if (typeof values !== "object" || values === null) return [];
    return Object.values(values).filter((value) => typeof value === "string");
  } catch {
    return [];
  }
}

const asksFor = ({ response }: Trace, instructions: readonly string[]): boolean =>
  (response.toolCalls ?? []).some((call) =>
    argumentTexts(call.arguments).some((text) => holds(instructions, needleOf(text))),
  );

const byRule = (step: Step, rule: string): boolean => step.trace.sideCall === rule;

/** Kinds of those calls that have one. @param lineages of one trajectory, by their first steps */
export function callKinds(lineages: readonly Lineage[]): ReadonlyMap<Step, CallKind> {
  const kinds = new Map<Step, CallKind>();
  const ordered = lineages.flat().sort((a, b) => a.trace.sequence - b.trace.sequence);
  for (const step of ordered) if (byRule(step, "summary")) kinds.set(step, "summary");
  const askedFor = new Set<Lineage>();
  for (const lineage of lineages) {
    const first = lineage[0]!;
    const at = ordered.indexOf(first);
    const before = ordered
      .slice(Math.max(0, at - lookBack), at)
      .filter((step) => !lineage.includes(step));
    const instructions = before.length === 0 ? [] : instructionsOf(first.trace);
    const summary = before.findLast(({ trace }) =>
      holds(instructions, needleOf(messageText(trace.response.content))),
    );
    if (summary !== undefined) kinds.set(summary, "summary");
    else if (before.some(({ trace }) => asksFor(trace, instructions))) askedFor.add(lineage);
  }
  for (const lineage of lineages) {
    const isSubAgent = askedFor.has(lineage) || lineage.some((step) => byRule(step, "sub-agent"));
    for (const step of isSubAgent ? lineage : [])
      if (!kinds.has(step)) kinds.set(step, "sub_agent");
  }
  return kinds;
}
