/** Model calls that an agent makes next to its task: titles, checks of a quota, summaries, sub-agents. */
import type { Trace } from "./trace.ts";

/**
 * Recognizes calls by what they are for; `rollout.side_calls` says which of them are trained on. By default, those
 * that a rule matches without guessing are not.
 *
 * @example
 * const memory: SideCallRule = {
 *   name: "memory",
 *   matches: ({ messages }) => String(messages[0]?.content).startsWith("Extract facts"),
 * };
 */
export interface SideCallRule {
  /** Shown with every call that it matches. */
  readonly name: string;
  /**
   * Whether `call` is one. Must not throw.
   * @param call One call that was made through the session's own endpoint.
   * @param calls All of those, by order of dispatch.
   */
  readonly matches: (call: Trace, calls: readonly Trace[]) => boolean;
  /**
   * It may take a part of the task for a side call: then what it matches is trained on by default, and it is never applied to the call whose text became the
   * output, nor where all calls of a rollout would be side calls. @default false
   */
  readonly isGuess?: boolean;
}

/** Which side calls are kept out of training: those by rules that are no guess, none, all, or those by name. */
export type SideCallUse = "own" | "train" | "exclude" | readonly string[];

/** Names of the rules whose calls `use` keeps out of training. */
export function excludedRules(
  use: SideCallUse,
  rules: readonly SideCallRule[],
): ReadonlySet<string> {
  if (use === "train") return new Set();
  if (typeof use !== "string") return new Set(use);
  const excluding = rules.filter(({ isGuess = false }) => use === "exclude" || !isGuess);
  return new Set(excluding.map(({ name }) => name));
}
