/** Rewards below zero, for parts of `weighted`. They do not decide whether a response is correct. */
import type { Episode, EvalOutput } from "../core/trajectory.ts";
import { ConfigError } from "../core/errors.ts";
import { linearPattern } from "./linear-pattern.ts";
import { type SyncScorer, type TextOptions, readText, responseText } from "./scorer.ts";

/**
 * Options of {@link lengthPenalty}.
 *
 * @example
 * const options: LengthPenaltyOptions = { from: 1500, to: 2000, unit: "tokens" };
 */
export interface LengthPenaltyOptions {
  /** Length up to which there is no penalty. */
  readonly from: number;
  /** Length from which on the penalty is 1. */
  readonly to: number;
  /** `tokens`: all that the model sampled in the episode; others: the text. @default "tokens" */
  readonly unit?: "tokens" | "words" | "chars";
  /** The text whose words or characters are counted. @default as for all evaluators */
  readonly text?: (episode: Episode) => string;
}

/** What the model sampled in all calls of an episode. */
const sampledTokens = (episode: Episode): number =>
  episode.trajectories
    .flatMap(({ steps }) => steps)
    .reduce((sum, { trace }) => sum + trace.responseIds.length, 0);

function countWords(text: string): number {
  let count = 0;
  let inWord = false;
  for (const char of text) {
    const isSpace = char.trim() === "";
    if (!isSpace && !inWord) count++;
    inWord = !isSpace;
  }
  return count;
}

/**
 * 0 up to the length `from`, then linearly down to -1 at `to` and beyond: the soft overlong penalty of
 * DAPO. The signal is `length`.
 *
 * @example
 * const evaluator = weighted({
 *   correct: [1, math()],
 *   length: [0.2, lengthPenalty({ from: 1500, to: 2000 })],
 * });
 */
export function lengthPenalty<Metadata = unknown>(
  options: LengthPenaltyOptions,
): SyncScorer<Metadata> {
  const { from, to, unit = "tokens", text = responseText } = options;
  if (!(from >= 0 && to >= from)) {
    throw new ConfigError({
      message: `lengthPenalty() was given from=${from} and to=${to}.`,
      hint: "Give two lengths, with `to` not below `from`.",
      fields: { from, to },
    });
  }
  return (_task, episode) => {
    const length =
      unit === "tokens"
        ? sampledTokens(episode)
        : unit === "chars"
          ? text(episode).length
          : countWords(text(episode));
    const over =
      length >= to && length > from ? 1 : Math.max(0, (length - from) / (to - from || 1));
    return penalty(Math.min(over, 1), { name: "length", value: length });
  };
}

/**
 * Options of {@link formatPenalty}.
 *
 * @example
 * const options: FormatPenaltyOptions = { tags: ["think", "answer"] };
 */
export interface FormatPenaltyOptions extends TextOptions {
  /**
   * Elements such as `<think>...</think>` that must each be there once, in this order. The one of reasoning (`think`,
   * `thinking`, `thought` or `reasoning`) may be captured apart from the text, or begin in the prompt. @default none
   */
  readonly tags?: readonly string[];
  /** A pattern that the whole text must match, in RE2's syntax; `.` matches line breaks. @default none */
  readonly pattern?: string | RegExp;
}

/** Elements that hold reasoning. */
const reasoningTags: readonly string[] = ["think", "thinking", "thought", "reasoning"];

/** The text with the reasoning that was captured apart, or that a chat template opens in the prompt, as an element. */
function withReasoning(text: string, tag: string, episode: Episode | null): string {
  if (text.includes(`<${tag}>`)) return text;
  const last = episode?.trajectories.flatMap(({ steps }) => steps).at(-1);
  const reasoning = last?.trace.response.reasoning ?? "";
  if (reasoning !== "") return `<${tag}>${reasoning}</${tag}>${text}`;
  return text.includes(`</${tag}>`) ? `<${tag}>${text}` : text;
}

/** How many of the elements are there once, closed, and after those before them. */
function tagsInOrder(text: string, tags: readonly string[]): number {
  let end = 0;
  return tags.filter((tag) => {
    const open = text.indexOf(`<${tag}>`);
    const close = text.indexOf(`</${tag}>`);
    const isOnce = open === text.lastIndexOf(`<${tag}>`) && close === text.lastIndexOf(`</${tag}>`);
    if (!isOnce || open < end || close < open) return false;
    end = close;
    return true;
  }).length;
}

/**
 * 0 where the text has the format, else down to -1: the fraction of `tags` and `pattern` that do not fit.
 *
 * @example
 * const evaluator = weighted({
 *   correct: [1, exactMatch()],
 *   format: [0.5, formatPenalty({ tags: ["think", "answer"] })],
 * });
 */
export function formatPenalty<Metadata = unknown>(
  options: FormatPenaltyOptions,
): SyncScorer<Metadata> {
  const { tags = [], pattern } = options;
  const flags = pattern instanceof RegExp ? `${pattern.flags.replace("s", "")}s` : "s";
  const source = pattern instanceof RegExp ? pattern.source : pattern;
  const compiled = source === undefined ? null : linearPattern(source, flags);
  const total = tags.length + (compiled === null ? 0 : 1);
  if (total === 0) {
    throw new ConfigError({
      message: "formatPenalty() was given neither tags nor a pattern.",
      hint: "Name the tags that the text must have, or give a pattern.",
    });
  }
  return (_task, episode) => {
    const text = readText(episode, options);
    if (text === null) return penalty(1);
    const tag = tags.find((one) => reasoningTags.includes(one)) ?? reasoningTags[0]!;
    const whole = withReasoning(text, tag, options.text === undefined ? episode : null);
    const isMatch = [text, whole].some((one) => (compiled?.full(one) ?? null) !== null);
    return penalty(
      (total - tagsInOrder(tags.includes(tag) ? whole : text, tags) - (isMatch ? 1 : 0)) / total,
    );
  };
}

const penalty = (size: number, ...signals: NonNullable<EvalOutput["signals"]>): EvalOutput => ({
  // Not -0, which JSON and equality treat differently.
  reward: size === 0 ? 0 : -size,
  isCorrect: null,
  ...(signals.length === 0 ? {} : { signals }),
});
