/** The contract of the evaluators of this folder, and how they find the text and the reference answer. */
import { AgentTrainerError } from "../core/errors.ts";
import type { ChatMessage } from "../core/message.ts";
import { messageText } from "../core/message-text.ts";
import type { Task } from "../core/task.ts";
import type { Episode, EvalOutput, Signal } from "../core/trajectory.ts";

/**
 * An evaluator that always returns the full form of a score. It can be passed as `evaluator`, called, or
 * be a part of {@link weighted}.
 *
 * @example
 * const scorer: Scorer<{ answer: string }> = exactMatch();
 * const { reward } = await scorer(task, episode);
 */
export type Scorer<Metadata = unknown> = (
  task: Task<Metadata>,
  episode: Episode,
) => EvalOutput | Promise<EvalOutput>;

/**
 * A {@link Scorer} without I/O: its result is there at once.
 *
 * @example
 * const scorer: SyncScorer<{ answer: string }> = exactMatch();
 * const { reward } = scorer(task, episode);
 */
export type SyncScorer<Metadata = unknown> = (task: Task<Metadata>, episode: Episode) => EvalOutput;

/**
 * Which text of an episode is scored, and how much of it is accepted.
 *
 * @example
 * const options: TextOptions = { text: (episode) => String(episode.metadata.summary) };
 */
export interface TextOptions {
  /** The text to score. @default what the agent returned, else the text of its last model response */
  readonly text?: (episode: Episode) => string;
  /** Longer texts get the reward 0 without being read. @default 100000 */
  readonly maxChars?: number;
}

/**
 * Where the reference answer of a task comes from.
 *
 * @example
 * const options: AnswerOptions<{ solution: string }> = { answer: (task) => task.metadata.solution };
 */
export interface AnswerOptions<Metadata> extends TextOptions {
  /** The reference answer; of a list, any. @default `task.metadata.answer` */
  readonly answer?: (task: Task<Metadata>) => unknown;
}

const defaultMaxChars = 100_000;

/**
 * The text of an episode: what the agent returned if that is text, a number or a boolean, as JSON if it
 * is an object or a list, and else the text of the last model response. Empty when there is none.
 *
 * @example
 * const isPolite: Evaluator = (_task, episode) => responseText(episode).includes("please");
 */
export function responseText(episode: Episode): string {
  const { output } = episode;
  if (typeof output === "string") return output;
  if (typeof output === "object" && output !== null) return JSON.stringify(output);
  if (typeof output === "number" || typeof output === "boolean") return String(output);
  const last = episode.trajectories
    .flatMap(({ steps }) => steps)
    .reduce<ChatMessage | null>((_before, { trace }) => trace.response, null);
  return last === null ? "" : messageText(last.content, { image: "drop" });
}

/** The text to score; null when it is longer than the limit. */
export function readText(
  episode: Episode,
  { text = responseText, maxChars = defaultMaxChars }: TextOptions,
): string | null {
  const found = text(episode);
  return found.length > maxChars ? null : found;
}

/** The reference answers of a task, at least one. */
export function readAnswers<Metadata>(
  task: Task<Metadata>,
  answer?: (task: Task<Metadata>) => unknown,
): readonly unknown[] {
  const found = answer === undefined ? fieldOf(task, "answer") : answer(task);
  const list: readonly unknown[] = Array.isArray(found) ? found : [found];
  if (list.length > 0 && !list.includes(undefined) && !list.includes(null)) return list;
  throw noReference(task, answer === undefined ? "answer" : undefined);
}

/** A field of the row; undefined where the row has none. */
export function fieldOf<Metadata>(task: Task<Metadata>, name: string): unknown {
  const { metadata } = task;
  if (typeof metadata !== "object" || metadata === null || !Object.hasOwn(metadata, name)) {
    return undefined;
  }
  return (metadata as Record<string, unknown>)[name];
}

/** The error for a task that lacks what an evaluator compares with. */
export function noReference(task: { readonly id: string }, field?: string): AgentTrainerError {
  const from = field === undefined ? "the function that was given" : `task.metadata.${field}`;
  return evaluatorError(
    `Task "${task.id}" has no reference to compare with: ${from} gives none.`,
    field === undefined
      ? "Return a value for every task."
      : `Add the field "${field}" to the row, or pass a function as the option of that name.`,
    { taskId: task.id },
  );
}

/** An `EVALUATOR_FAILED` error. */
export function evaluatorError(
  message: string,
  hint: string,
  fields: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): AgentTrainerError {
  return new AgentTrainerError({ code: "EVALUATOR_FAILED", message, hint, fields, cause });
}

const maxNoteChars = 200;

/** Cuts a text for the metadata of a score. */
export const note = (text: string): string =>
  text.length > maxNoteChars ? `${text.slice(0, maxNoteChars)}…` : text;

/** A score with what it was based on; correct at a reward of 1. */
export function scored(
  reward: number,
  metadata: Readonly<Record<string, unknown>> = {},
  signals: readonly Signal[] = [],
): EvalOutput {
  return {
    reward,
    isCorrect: reward >= 1,
    ...(signals.length === 0 ? {} : { signals }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

/** The score of a text that is too long to be read. */
export const tooLong = (): EvalOutput => scored(0, { reason: "the text is longer than maxChars" });
