/** What was thought of a response: by a person at once, or by what came of it days later. */
import { z } from "zod";
import { AgentTrainerError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/message.ts";
import { redactValues } from "../redact-values.ts";

/** One piece of feedback, about a trace, a conversation or a response. */
export interface Feedback {
  /** The trace that it is about, as the program's telemetry names it. */
  readonly traceId?: string;
  /** The conversation (a session or thread) that it is about. */
  readonly conversationId?: string;
  /** The response that it is about: the `id` of an answer of the model. */
  readonly responseId?: string;
  /** 0 is bad, 1 is good. */
  readonly score?: number;
  readonly thumb?: "up" | "down";
  /** What the response should have been. */
  readonly correction?: string;
  /** Why, in words. Nothing is trained on it. */
  readonly comment?: string;
  /** What came of it, by name: `{ "refunded": true }`. */
  readonly outcome?: Readonly<Record<string, JsonValue>>;
  /** Who gave it, or whom it is about: only for splits. */
  readonly user?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The weights that had responded, where `serve` said which. */
  readonly weightVersion?: number;
}

/** Feedback as programs send it: `at` may be missing (now), or a date as ISO 8601. */
export type FeedbackInput = Omit<Feedback, "at"> & {
  readonly at?: number | string;
  /** What `score` is called: it is kept as the outcome of that name, and is a rating only if the name says so. */
  readonly name?: string;
};

const ratingNames = new Set(
  "rating userrating feedback userfeedback humanfeedback userscore thumb thumbs thumbsup userthumbs like liked upvote".split(
    " ",
  ),
);

/** Whether a score of this name is what a person thought of a response, and more is better. */
export const isRatingName = (name: string): boolean =>
  ratingNames.has(name.toLowerCase().replaceAll(/[^a-z]/gu, ""));

/** Characters of one record as JSON. */
const maxFeedbackChars: number = 2 ** 20;

const id = z.string().min(1).max(512);

const schema = z
  .strictObject({
    traceId: id.optional(),
    conversationId: id.optional(),
    responseId: id.optional(),
    score: z.number().min(0).max(1).optional(),
    name: z.string().min(1).max(512).optional(),
    thumb: z.enum(["up", "down"]).optional(),
    correction: z.string().min(1).optional(),
    comment: z.string().optional(),
    outcome: z.record(z.string(), z.json()).optional(),
    user: id.optional(),
    at: z.union([z.number().nonnegative(), z.iso.datetime({ offset: true })]).optional(),
    weightVersion: z.int().nonnegative().optional(),
  })
  .refine((one) => one.traceId ?? one.conversationId ?? one.responseId, {
    error: "it names nothing that it is about: traceId, conversationId or responseId",
  })
  .refine(
    (one) =>
      [one.score, one.thumb, one.correction, one.comment, one.outcome].some(
        (said) => said !== undefined,
      ),
    { error: "it says nothing: score, thumb, correction, comment or outcome" },
  );

function refused(reason: string, cause?: unknown): AgentTrainerError {
  return new AgentTrainerError({
    code: "REQUEST_INVALID",
    message: `This is no feedback: ${reason}.`,
    hint: 'For example: {"traceId": "...", "thumb": "down", "correction": "..."}',
    cause,
  });
}

/** A score that has a name is an outcome. */
function named({ name, ...given }: z.infer<typeof schema>): Omit<z.infer<typeof schema>, "name"> {
  const { score, ...rest } = given;
  if (name === undefined || score === undefined) return given;
  const record = { ...rest, outcome: { ...rest.outcome, [name]: score } };
  return isRatingName(name) ? { ...record, score } : record;
}

/**
 * What was sent as a record: checked, without secrets.
 * @param now milliseconds since the epoch. @default the clock
 * @throws AgentTrainerError `REQUEST_INVALID`
 */
export function toFeedback(given: unknown, now: number = Date.now()): Feedback {
  try {
    const text = JSON.stringify(given) ?? "";
    if (text.length > maxFeedbackChars)
      throw refused(`it has ${text.length} characters, and ${maxFeedbackChars} is the limit`);
    const { at, ...record } = named(schema.parse(given));
    const time = at === undefined ? now : typeof at === "string" ? Date.parse(at) : at;
    return { ...(redactValues(record) as Omit<Feedback, "at">), at: time };
  } catch (error) {
    if (error instanceof RangeError) throw refused("it is nested too deeply", error);
    if (!(error instanceof z.ZodError)) throw error;
    const [first] = error.issues;
    const where = first?.path.join(".") ?? "";
    throw refused(`${where === "" ? "" : `${where}: `}${first?.message ?? ""}`, error);
  }
}

/** What of feedback is a rating. */
export interface RatingChoice {
  /** The name of an outcome that is a score too: true or false, or a number from 0 to 1. */
  readonly outcome?: string | undefined;
  /** The name of the scores that are ratings; other named ones are not. Thumbs, and scores without a name, are. */
  readonly rating?: string | undefined;
}

const scoreOfOutcome = ({ outcome }: Feedback, name: string | undefined): number | null => {
  const found = name === undefined ? undefined : outcome?.[name];
  if (typeof found === "boolean") return found ? 1 : 0;
  return typeof found === "number" && found >= 0 && found <= 1 ? found : null;
};

/** The name of the score of a record, where it has one. */
export const scoreName = ({ score, outcome = {} }: Feedback): string | undefined =>
  score === undefined
    ? undefined
    : Object.keys(outcome).find((name) => isRatingName(name) && Number(outcome[name]) === score);

/** From 0 (bad) to 1 (good); null where it says neither. */
export function scoreOf(feedback: Feedback, { outcome, rating }: RatingChoice = {}): number | null {
  const name = scoreName(feedback);
  const isRating = rating === undefined || name === undefined || name === rating;
  if (feedback.score !== undefined && isRating) return feedback.score;
  if (feedback.thumb !== undefined) return feedback.thumb === "up" ? 1 : 0;
  return scoreOfOutcome(feedback, rating) ?? scoreOfOutcome(feedback, outcome);
}
