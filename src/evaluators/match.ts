/** Evaluators that compare the whole text with the reference answer. */
import {
  type AnswerOptions,
  type SyncScorer,
  note,
  readAnswers,
  readText,
  scored,
  tooLong,
} from "./scorer.ts";
import { normalizeAnswer, referenceTokens } from "./normalize-answer.ts";

/**
 * Options of {@link exactMatch}.
 *
 * @example
 * const options: ExactMatchOptions<{ answer: string }> = { trim: false };
 */
export interface ExactMatchOptions<Metadata> extends AnswerOptions<Metadata> {
  /** Whether white space around both is ignored. @default true */
  readonly trim?: boolean;
}

/** How a reference is written as text. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

function compare<Metadata>(
  options: AnswerOptions<Metadata>,
  normalize: (text: string) => string,
  normalizeReference: (text: string, taskId: string) => string = normalize,
): SyncScorer<Metadata> {
  return (task, episode) => {
    const answers = readAnswers(task, options.answer).map((answer) =>
      normalizeReference(asText(answer), task.id),
    );
    const text = readText(episode, options);
    if (text === null) return tooLong();
    const found = normalize(text);
    return scored(answers.includes(found) ? 1 : 0, { found: note(found) });
  };
}

/**
 * 1 where the text equals the reference answer character by character, else 0.
 *
 * @example
 * const evaluator = exactMatch<{ answer: string }>({ answer: (task) => task.metadata.answer });
 */
export function exactMatch<Metadata = unknown>(
  options: ExactMatchOptions<Metadata> = {},
): SyncScorer<Metadata> {
  return compare(options, options.trim === false ? (text) => text : (text) => text.trim());
}

/**
 * 1 where the text equals the reference answer after the normalization of SQuAD: lower case, without
 * punctuation, without the articles "a", "an" and "the", and with single spaces. Else 0. Unlike there, the signs of
 * numbers count, and a reference of which nothing is left is an error.
 *
 * @example
 * const evaluator = normalizedMatch(); // "The Eiffel Tower." matches "eiffel tower"
 */
export function normalizedMatch<Metadata = unknown>(
  options: AnswerOptions<Metadata> = {},
): SyncScorer<Metadata> {
  return compare(options, normalizeAnswer, (text, taskId) =>
    referenceTokens(text, taskId).join(" "),
  );
}
