/** Whether the final result in a text equals the expected one, as mathematics. */
import { afterMarker, lastBoxed } from "../boxed.ts";
import { asText } from "../match.ts";
import {
  type AnswerOptions,
  type SyncScorer,
  note,
  readAnswers,
  readText,
  scored,
  tooLong,
} from "../scorer.ts";
import { equalAnswers } from "./equal-answers.ts";
import { finalResult, lastBoxes } from "./final-result.ts";

/**
 * Options of {@link math}.
 *
 * @example
 * const options: MathOptions<{ solution: string }> = {
 *   answer: (task) => task.metadata.solution,
 *   requireBoxed: true,
 * };
 */
export interface MathOptions<Metadata> extends AnswerOptions<Metadata> {
  /** Whether a result that is not in `\boxed{}` gets 0. @default false */
  readonly requireBoxed?: boolean;
  /** `fraction`: 50% is 0.5; `ignore`: 50% is 50, as in the script of MATH. @default "fraction" */
  readonly percent?: "fraction" | "ignore";
}

/**
 * 1 where the final result in the text equals the reference answer, else 0. Finds the result in
 * `\boxed{}`, after `####` or "answer is". Formulas in LaTeX or plain notation are parsed and compared
 * exactly, and where they have functions by their values; tuples, intervals, sets, lists and matrices part
 * by part. What it cannot parse (integrals, sums) must be equal as written.
 *
 * @example
 * const evaluator = math(); // "\\boxed{\\frac{1}{2}}" equals 0.5
 */
export function math<Metadata = unknown>(
  options: MathOptions<Metadata> = {},
): SyncScorer<Metadata> {
  const { requireBoxed = false, percent = "fraction" } = options;
  return (task, episode) => {
    const answers = readAnswers(task, options.answer).map((one) => {
      const text = asText(one);
      return lastBoxed(text) ?? afterMarker(text) ?? text;
    });
    const text = readText(episode, options);
    if (text === null) return tooLong();
    const found = requireBoxed ? lastBoxes(text) : finalResult(text);
    if (found === null) return scored(0, { reason: "no \\boxed{}" });
    const isEqual = answers.some((answer) => equalAnswers(found, answer, { percent }));
    return scored(isEqual ? 1 : 0, { found: note(found) });
  };
}
