/** Scores of several attempts at one task relative to each other, by a language model without labels. */
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import type { Episode, EvalOutput } from "../../core/trajectory.ts";
import { createRandom, deriveSeed, shuffled } from "../../util/random.ts";
import { evaluatorError, responseText } from "../scorer.ts";
import { type JudgeEndpoint, askJudge, checkEndpoint } from "./endpoint.ts";
import { createQuoter, onlyObject } from "./quote.ts";
import type { ChatMessage } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";

/**
 * Options of {@link relativeJudge}.
 *
 * @example
 * const options: RelativeJudgeOptions = {
 *   baseUrl: "http://127.0.0.1:8000/v1",
 *   model: "judge",
 *   rubric: "Prefer attempts that reach the goal with fewer calls.",
 * };
 */
export interface RelativeJudgeOptions extends JudgeEndpoint {
  /** What makes an attempt good, in words. @default reaching the goal of the task, then efficiency */
  readonly rubric?: string;
  /** Maximum length of each attempt; the middle of a longer one is omitted. @default 20000 */
  readonly maxChars?: number;
}

/**
 * Scores the attempts at one task; the results are in the order of the attempts. Returned by
 * {@link relativeJudge}.
 *
 * @example
 * const rank: GroupScorer = relativeJudge({ baseUrl: "http://127.0.0.1:8000/v1", model: "judge" });
 * const scores = await rank(task, episodes);
 */
export type GroupScorer = (
  task: Pick<Task<unknown>, "id" | "instruction">,
  attempts: readonly (Episode | string)[],
  how?: { readonly signal: AbortSignal },
) => Promise<readonly EvalOutput[]>;

const maxAttempts = 32;
const defaultRubric = [
  "An attempt that reaches the goal of the task scores well above one that does not.",
  "Among those that reach it, one that is more efficient scores higher.",
  "Among those that do not, one that came closer scores higher.",
].join(" ");

/**
 * A function that scores 2 to 32 attempts at one task from 0 to 1, relative to each other, in one call of
 * a language model: for tasks without reference answers, where it is easier to say which of two attempts
 * is better than how good one is (the idea of RULER). The order in which the model sees them depends on
 * the task and is not that of the attempts. Attempts are episodes or their texts.
 *
 * @example
 * const rank = relativeJudge({ baseUrl: "http://127.0.0.1:8000/v1", model: "judge" });
 * const [first, second] = await rank(task, ["Paris", "I do not know."]);
 */
export function relativeJudge(options: RelativeJudgeOptions): GroupScorer {
  const { rubric = defaultRubric, maxChars = 20_000 } = options;
  checkEndpoint(options);
  if (!(maxChars >= 100)) {
    throw new ConfigError({
      message: `relativeJudge() was given maxChars=${maxChars}.`,
      hint: "Give at least 100.",
      fields: { maxChars },
    });
  }
  return async (task, attempts, how) => {
    if (attempts.length < 2 || attempts.length > maxAttempts) {
      throw evaluatorError(
        `relativeJudge() was given ${attempts.length} attempts at task "${task.id}".`,
        `Give 2 to ${maxAttempts} attempts at the same task.`,
        { taskId: task.id, attempts: attempts.length },
      );
    }
    const random = createRandom(deriveSeed(0, "relative-judge", task.id));
    const order = shuffled([...attempts.keys()], random);
    const { notice, quote } = createQuoter();
    const names = order.map((_index, place) => String(place + 1));
    const system = [
      "You compare several attempts at the same task and score each from 0 to 1.",
      notice,
      `Rubric:\n${rubric}`,
      "Scores are relative: use the whole range where the attempts differ, and equal scores where they are equally good. The order of the attempts has no meaning.",
      `Respond with one JSON object and nothing else: {"scores": {${names.map((name) => `"${name}": a number from 0 to 1`).join(", ")}}}`,
    ].join("\n\n");
    const texts = order.map((index) => {
      const attempt = attempts[index]!;
      return cutMiddle(typeof attempt === "string" ? attempt : transcript(attempt), maxChars);
    });
    const user = [
      quote("task", cutMiddle(task.instruction, maxChars)),
      ...texts.map((text, place) => quote(`attempt ${place + 1}`, text)),
      "Score each attempt.",
    ].join("\n\n");
    const scores = await askJudge(
      options,
      system,
      user,
      (text) => readScores(text, names),
      how?.signal,
    );
    const results = Array.from({ length: attempts.length }, () => 0);
    for (const [place, index] of order.entries()) results[index] = scores[place]!;
    return results.map((reward) => ({ reward, isCorrect: null }));
  };
}

/** One score for each name and none for others; null for anything else. */
function readScores(text: string, names: readonly string[]): readonly number[] | null {
  const scores = onlyObject(text)?.scores;
  if (typeof scores !== "object" || scores === null || Array.isArray(scores)) return null;
  if (Object.keys(scores).length !== names.length) return null;
  const found = names.map((name) =>
    Object.hasOwn(scores, name) ? (scores as Record<string, unknown>)[name] : undefined,
  );
  const areScores = found.every(
    (score): score is number => typeof score === "number" && score >= 0 && score <= 1,
  );
  return areScores ? found : null;
}

function lineOf({ role, content, toolCalls }: ChatMessage): string {
  const calls = (toolCalls ?? []).map((call) => `[tool call] ${call.name}(${call.arguments})`);
  return [`[${role}] ${messageText(content)}`.trimEnd(), ...calls].join("\n");
}

/** The messages of each trajectory's last call with its response, and what the agent returned. */
function transcript(episode: Episode): string {
  const conversations = episode.trajectories.flatMap(({ name, steps }) => {
    const last = steps.at(-1);
    if (last === undefined) return [];
    const lines = [...last.trace.messages, last.trace.response].map(lineOf);
    return [[`Trajectory "${name}":`, ...lines].join("\n")];
  });
  const output =
    episode.output === undefined || episode.output === null ? "" : responseText(episode);
  return [...conversations, ...(output === "" ? [] : [`Result: ${output}`])].join("\n\n");
}

/** Cuts out the middle of a text. */
function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters omitted]\n${text.slice(text.length - half)}`;
}
