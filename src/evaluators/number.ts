/** Whether the number in a text is the expected one. */
import { afterMarker, lastBoxed } from "./boxed.ts";
import { type WrittenNumber, findNumbers } from "./parse-number.ts";
import {
  type AnswerOptions,
  type SyncScorer,
  evaluatorError,
  readAnswers,
  readText,
  scored,
  tooLong,
} from "./scorer.ts";
import { asText } from "./match.ts";

/**
 * Options of {@link number}.
 *
 * @example
 * const options: NumberOptions<{ km: number }> = {
 *   answer: (task) => task.metadata.km,
 *   units: { km: 1, m: 0.001 },
 *   tolerance: { relative: 0.01 },
 * };
 */
export interface NumberOptions<Metadata> extends AnswerOptions<Metadata> {
  /** Maximum difference; the larger of both applies. @default relative 1e-9, absolute 0 */
  readonly tolerance?: { readonly absolute?: number; readonly relative?: number };
  /**
   * Which number of the text counts. With `last`, that after the last `####` or in the last `\boxed{}`
   * goes first; `only` accepts a text with a single number. @default "last"
   */
  readonly extract?: "last" | "first" | "only";
  /** Decimal separator; the other of point and comma separates thousands. @default "." */
  readonly decimal?: "." | ",";
  /** `fraction`: 50% is 0.5; `points`: 50% is 50. @default "fraction" */
  readonly percent?: "fraction" | "points";
  /** What a number with a unit is multiplied by, by unit; other words are ignored. @default {} */
  readonly units?: Readonly<Record<string, number>>;
  /** Whether the number in the text must have one of `units`. @default false */
  readonly requireUnit?: boolean;
}

/**
 * 1 where the number in the text equals the reference answer within a tolerance, else 0. Reads signs,
 * thousands separators, currencies, exponents, fractions, per cent and units.
 *
 * @example
 * const evaluator = number({ tolerance: { relative: 0.01 } }); // "about $1,234.5" is 1234.50
 */
export function number<Metadata = unknown>(
  options: NumberOptions<Metadata> = {},
): SyncScorer<Metadata> {
  const { tolerance = {}, requireUnit = false, units = {} } = options;
  const { absolute = 0, relative = 1e-9 } = tolerance;
  return (task, episode) => {
    const expected = readAnswers(task, options.answer).map((answer) => {
      if (typeof answer === "number" && Number.isFinite(answer)) return answer;
      const found = select(asText(answer), options);
      if (found !== null) return valueOf(found, options);
      throw evaluatorError(
        `The reference answer ${JSON.stringify(answer).slice(0, 100)} of task "${task.id}" has no number.`,
        "Use a finite number, or text with a number, as reference answer.",
        { taskId: task.id },
      );
    });
    const text = readText(episode, options);
    if (text === null) return tooLong();
    const found = select(text, options);
    if (found === null) return scored(0, { reason: "no number found" });
    const value = valueOf(found, options);
    if (requireUnit && !Object.hasOwn(units, found.unit)) {
      return scored(0, { found: value, reason: "no known unit" });
    }
    const isEqual = expected.some(
      (one) => Math.abs(value - one) <= Math.max(absolute, relative * Math.abs(one)),
    );
    return scored(isEqual ? 1 : 0, { found: value });
  };
}

function select<Metadata>(text: string, options: NumberOptions<Metadata>): WrittenNumber | null {
  const { extract = "last", decimal } = options;
  const all = (part: string): readonly WrittenNumber[] => findNumbers(part, decimal);
  if (extract === "first") return all(text)[0] ?? null;
  const marked = afterMarker(text) ?? lastBoxed(text);
  const numbers = all(marked ?? text);
  if (extract === "only") return numbers.length === 1 ? numbers[0]! : null;
  return (marked === null ? numbers.at(-1) : numbers[0]) ?? null;
}

function valueOf<Metadata>(
  { value, isPercent, unit }: WrittenNumber,
  { percent = "fraction", units = {} }: NumberOptions<Metadata>,
): number {
  const factor = Object.hasOwn(units, unit) ? units[unit]! : 1;
  return isPercent && percent === "fraction" ? value / 100 : value * factor;
}
