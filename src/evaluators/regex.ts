/** Whether a text matches a pattern. */
import type { Task } from "../core/task.ts";
import { asText } from "./match.ts";
import {
  type LinearPattern,
  type PatternMatch,
  PatternWorkError,
  linearPattern,
} from "./linear-pattern.ts";
import {
  type AnswerOptions,
  type SyncScorer,
  note,
  readAnswers,
  readText,
  scored,
  tooLong,
} from "./scorer.ts";

/**
 * Options of {@link regex}.
 *
 * @example
 * const options: RegexOptions<{ answer: string }> = { pattern: /answer: (\w+)/i, group: 1 };
 */
export interface RegexOptions<Metadata> extends AnswerOptions<Metadata> {
  /**
   * Syntax of RE2: without lookaround and back-references, and with a time that is linear in the text.
   * A function gives one per task.
   */
  readonly pattern: string | RegExp | ((task: Task<Metadata>) => string | RegExp);
  /** Whether the whole text must match, or a part of it. @default "part" */
  readonly match?: "part" | "whole";
  /** A group of the last match that must equal the reference answer, from 1. @default no group is compared */
  readonly group?: number;
}

/**
 * 1 where the text matches the pattern and, with `group`, where what that group captured equals the
 * reference answer; else 0.
 *
 * @example
 * const evaluator = regex({ pattern: /^answer: (\d+)$/im, group: 1 });
 */
export function regex<Metadata = unknown>(options: RegexOptions<Metadata>): SyncScorer<Metadata> {
  const { pattern, match = "part", group } = options;
  const fixed = typeof pattern === "function" ? null : linearPattern(pattern);
  return (task, episode) => {
    const compiled: LinearPattern =
      fixed ?? linearPattern((pattern as (task: Task<Metadata>) => string | RegExp)(task));
    const answers = group === undefined ? [] : readAnswers(task, options.answer);
    const text = readText(episode, options);
    if (text === null) return tooLong();
    if (match === "part" && group === undefined)
      return scored(compiled.find(text) === null ? 0 : 1);
    let found: PatternMatch | null;
    try {
      found = match === "whole" ? compiled.full(text) : compiled.findLast(text);
    } catch (error) {
      if (error instanceof PatternWorkError) return scored(0, { reason: error.message });
      throw error;
    }
    if (found === null) return scored(0, { reason: "the pattern does not match" });
    if (group === undefined) return scored(1);
    const captured = (found[group] ?? "").trim();
    const isEqual = answers.some((answer) => asText(answer).trim() === captured);
    return scored(isEqual ? 1 : 0, { found: note(captured) });
  };
}
