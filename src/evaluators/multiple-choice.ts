/** Whether a text picks the correct choice. */
import type { Task } from "../core/task.ts";
import { asText } from "./match.ts";
import { alphabet, readChoice } from "./read-choice.ts";
import {
  type AnswerOptions,
  type SyncScorer,
  evaluatorError,
  fieldOf,
  readAnswers,
  readText,
  scored,
  tooLong,
} from "./scorer.ts";

/**
 * Options of {@link multipleChoice}.
 *
 * @example
 * const options: MultipleChoiceOptions<{ options: string[] }> = {
 *   choices: (task) => task.metadata.options,
 * };
 */
export interface MultipleChoiceOptions<Metadata> extends AnswerOptions<Metadata> {
  /** The choices in order, at most 26. @default `task.metadata.choices`, else none: letters A to J */
  readonly choices?: (task: Task<Metadata>) => readonly string[];
}

/** The letter of a reference answer: a letter, an index from 0, or the text of a choice. */
function letterOf(answer: unknown, choices: readonly string[], taskId: string): string {
  if (typeof answer === "number" && Number.isInteger(answer)) {
    const letter = alphabet[answer];
    if (letter !== undefined && (choices.length === 0 || answer < choices.length)) return letter;
  }
  const text = asText(answer).trim();
  const index = choices.indexOf(text);
  if (index !== -1) return alphabet[index]!;
  const letter = /^\(?([A-Za-z])[).]?$/u.exec(text)?.[1]?.toUpperCase();
  if (letter !== undefined) return letter;
  throw evaluatorError(
    `The reference answer ${JSON.stringify(answer).slice(0, 100)} of task "${taskId}" is none of its choices.`,
    "Use a letter, an index from 0, or the text of a choice as reference answer.",
    { taskId },
  );
}

/**
 * 1 where the text picks the correct choice, else 0. Understands `\boxed{C}`, "the answer is (c)", a letter
 * alone or in the last line, "C) ...", "option C", the text of a choice, and as a last resort the last letter in
 * parentheses. A text that picks none clearly gets 0.
 *
 * @example
 * const evaluator = multipleChoice<{ options: string[] }>({
 *   choices: (task) => task.metadata.options,
 * });
 */
export function multipleChoice<Metadata = unknown>(
  options: MultipleChoiceOptions<Metadata> = {},
): SyncScorer<Metadata> {
  return (task, episode) => {
    const choices = readChoices(task, options.choices);
    const letters = readAnswers(task, options.answer).map((one) => letterOf(one, choices, task.id));
    const text = readText(episode, options);
    if (text === null) return tooLong();
    const found = readChoice(text, choices);
    if (found === null) return scored(0, { reason: "no choice found" });
    return scored(letters.includes(found) ? 1 : 0, { found });
  };
}

function readChoices<Metadata>(
  task: Task<Metadata>,
  choices?: (task: Task<Metadata>) => readonly string[],
): readonly string[] {
  const found = choices === undefined ? (fieldOf(task, "choices") ?? []) : choices(task);
  if (
    Array.isArray(found) &&
    found.length <= alphabet.length &&
    found.every((one): one is string => typeof one === "string")
  ) {
    return found;
  }
  throw evaluatorError(
    `The choices of task "${task.id}" are not a list of at most 26 texts.`,
    "Return the texts of the choices in order.",
    { taskId: task.id },
  );
}
