/** Model calls that an agent makes next to its task: titles, summaries, checks of a quota. */
import type { Trace } from "./trace.ts";

/**
 * Recognizes calls that do not belong to what is trained.
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
   * It may take a part of the task for a side call: then it is never applied to the call whose text became the
   * output, nor where all calls of a rollout would be side calls. @default false
   */
  readonly isGuess?: boolean;
}
