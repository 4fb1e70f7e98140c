/** Overlap of words with the reference answer. */
import {
  type AnswerOptions,
  type SyncScorer,
  readAnswers,
  readText,
  scored,
  tooLong,
} from "./scorer.ts";
import { answerTokens, referenceTokens } from "./normalize-answer.ts";
import { asText } from "./match.ts";

/**
 * Options of {@link f1}.
 *
 * @example
 * const options: F1Options<{ answers: string[] }> = { answer: (task) => task.metadata.answers };
 */
export interface F1Options<Metadata> extends AnswerOptions<Metadata> {
  /** Minimum F1 of a correct response, from 0 to 1. @default 1 */
  readonly threshold?: number;
}

/** Token F1 of two lists of words. */
function tokenF1(found: readonly string[], expected: readonly string[]): number {
  const rest = new Map<string, number>();
  for (const word of expected) rest.set(word, (rest.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of found) {
    const left = rest.get(word) ?? 0;
    if (left > 0) common++;
    rest.set(word, left - 1);
  }
  return (2 * common) / (found.length + expected.length);
}

/**
 * F1 of the words of the text and of the reference answer, normalized as in SQuAD but for the signs of numbers; of several references,
 * the best. The signals are `f1` and `exact`.
 *
 * @example
 * const evaluator = f1({ threshold: 0.8 });
 */
export function f1<Metadata = unknown>(options: F1Options<Metadata> = {}): SyncScorer<Metadata> {
  const { threshold = 1 } = options;
  return (task, episode) => {
    const answers = readAnswers(task, options.answer).map((answer) =>
      referenceTokens(asText(answer), task.id),
    );
    const text = readText(episode, options);
    if (text === null) return tooLong();
    const found = answerTokens(text);
    const best = Math.max(...answers.map((answer) => tokenF1(found, answer)));
    const isExact = answers.some((answer) => answer.join(" ") === found.join(" "));
    const signals = [
      { name: "f1", value: best },
      { name: "exact", value: isExact ? 1 : 0 },
    ];
    return { ...scored(best, {}, signals), isCorrect: best >= threshold };
  };
}
