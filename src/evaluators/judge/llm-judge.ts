/** A score by a language model with a rubric. */
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { asText } from "../match.ts";
import { type Scorer, type TextOptions, note, readText, tooLong } from "../scorer.ts";
import { type JudgeEndpoint, askJudge, checkEndpoint } from "./endpoint.ts";
import { createQuoter, onlyObject } from "./quote.ts";

/**
 * Options of {@link llmJudge}.
 *
 * @example
 * const options: LlmJudgeOptions<{ reference: string }> = {
 *   baseUrl: "http://127.0.0.1:8000/v1",
 *   model: "judge",
 *   rubric: "5: correct and polite. 3: correct but rude. 1: incorrect.",
 *   minScore: 1,
 *   maxScore: 5,
 *   answer: (task) => task.metadata.reference,
 * };
 */
export interface LlmJudgeOptions<Metadata> extends JudgeEndpoint, TextOptions {
  /** What makes a response good, in words. */
  readonly rubric: string;
  /** The lowest score that the model may give. @default 0 */
  readonly minScore?: number;
  /** The highest score that the model may give. @default 10 */
  readonly maxScore?: number;
  /** Score from which on the response is correct. @default `maxScore` */
  readonly passScore?: number;
  /** A reference answer that the model sees, too. @default none */
  readonly answer?: (task: Task<Metadata>) => unknown;
}

/**
 * The score that a language model gives by a rubric, mapped to 0 to 1. The model must respond with a JSON
 * object that has a number within bounds; anything else is tried again, and after `retries` an error. The
 * signal is `score`, as given.
 *
 * @example
 * const evaluator = llmJudge({
 *   baseUrl: "https://api.openai.com/v1",
 *   model: "gpt-5-mini",
 *   apiKey: process.env.OPENAI_API_KEY,
 *   rubric: "10: answers the question correctly in one sentence. 0: does not.",
 * });
 */
export function llmJudge<Metadata = unknown>(options: LlmJudgeOptions<Metadata>): Scorer<Metadata> {
  const { rubric, minScore = 0, maxScore = 10, answer } = options;
  const { passScore = maxScore } = options;
  checkEndpoint(options);
  if (!(minScore < maxScore) || !Number.isFinite(maxScore - minScore) || rubric.trim() === "") {
    throw new ConfigError({
      message: `llmJudge() was given minScore=${minScore}, maxScore=${maxScore} and a rubric of ${rubric.length} characters.`,
      hint: "Give a rubric, and a minScore below maxScore.",
      fields: { minScore, maxScore },
    });
  }
  return async (task, episode) => {
    const text = readText(episode, options);
    if (text === null) return tooLong();
    const { notice, quote } = createQuoter();
    const system = [
      "You score the response of an assistant to a task, by a rubric.",
      notice,
      `Rubric:\n${rubric}`,
      `Respond with one JSON object and nothing else: {"reason": "one sentence", "score": a number from ${minScore} to ${maxScore}}`,
    ].join("\n\n");
    const user = [
      quote("task", task.instruction),
      ...(answer === undefined ? [] : [quote("reference answer", asText(answer(task)))]),
      quote("response", text),
      "Score the response by the rubric.",
    ].join("\n\n");
    const { score, reason } = await askJudge(options, system, user, (content) =>
      readScore(content, minScore, maxScore),
    );
    return {
      reward: (score - minScore) / (maxScore - minScore),
      isCorrect: score >= passScore,
      signals: [{ name: "score", value: score }],
      ...(reason === "" ? {} : { metadata: { reason: note(reason) } }),
    };
  };
}

/** The score of a response that is exactly one JSON object; null for anything else. */
function readScore(
  content: string,
  minScore: number,
  maxScore: number,
): { readonly score: number; readonly reason: string } | null {
  const found = onlyObject(content);
  const score = found?.score;
  if (typeof score !== "number" || !(score >= minScore && score <= maxScore)) return null;
  return { score, reason: typeof found?.reason === "string" ? found.reason : "" };
}
