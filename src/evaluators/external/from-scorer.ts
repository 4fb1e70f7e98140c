/** Scorers written for evaluation libraries: functions of input, output and expected value. */
import { asText } from "../match.ts";
import { type AnswerOptions, readAnswers, readText, type Scorer, tooLong } from "../scorer.ts";
import { externalScore } from "./external-score.ts";

/**
 * What such a scorer receives. Those of `autoevals` have this form.
 *
 * @example
 * const length: ExternalScorer = ({ output }) => ({ name: "short", score: output.length < 80 ? 1 : 0 });
 */
export type ExternalScorer = (args: {
  readonly input: string;
  readonly output: string;
  readonly expected: string;
}) => ExternalScore | Promise<ExternalScore>;

/**
 * What such a scorer returns: a number, or an object with one.
 *
 * @example
 * const score: ExternalScore = { name: "Levenshtein", score: 0.5 };
 */
export type ExternalScore =
  | number
  | { readonly name?: string; readonly score: number | null; readonly metadata?: unknown };

/**
 * Options of {@link fromScorer}.
 *
 * @example
 * const options: FromScorerOptions<{ answer: string }> = { passScore: 0.8 };
 */
export interface FromScorerOptions<Metadata> extends AnswerOptions<Metadata> {
  /** Score from which on the response is correct. @default 1 */
  readonly passScore?: number;
}

/**
 * An evaluator of a scorer such as those of `autoevals`: it receives the instruction as `input`, the text
 * as `output` and the reference answer as `expected`; its score is the reward. No score (`null`) is an
 * error.
 *
 * @example
 * import { Levenshtein } from "autoevals";
 * const evaluator = fromScorer(Levenshtein, { passScore: 0.9 });
 */
export function fromScorer<Metadata = unknown>(
  scorer: ExternalScorer,
  options: FromScorerOptions<Metadata> = {},
): Scorer<Metadata> {
  const { passScore = 1 } = options;
  return async (task, episode) => {
    const [answer] = readAnswers(task, options.answer);
    const output = readText(episode, options);
    if (output === null) return tooLong();
    const result = await scorer({ input: task.instruction, output, expected: asText(answer) });
    return externalScore(result, task, passScore);
  };
}
