/** A row of an export of a tracing service, and what is read of it. */
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { defined } from "../../util/defined.ts";
import { type FeedbackInput, isRatingName } from "../store/feedback.ts";
import type { Span } from "../store/span.ts";

interface ReadRow {
  readonly spans: readonly Span[];
  readonly feedback: readonly FeedbackInput[];
}

/**
 * @param rating the name of a score that is a rating, besides those that say so
 * @throws Error with the reason why the row cannot be read.
 */
export type RowReader = (row: JsonFields, rating: string | undefined) => ReadRow;

/** The first text of some fields: services renamed theirs. */
export const firstText = (...values: readonly unknown[]): string | undefined =>
  values.find((one): one is string => typeof one === "string" && one !== "");

export const objectOf = (value: unknown): JsonFields => (isJsonObject(value) ? value : {});

/** @throws Error where none of them is a text. */
export function requiredText(name: string, ...values: readonly unknown[]): string {
  const found = firstText(...values);
  if (found === undefined) throw new Error(`it has no ${name}`);
  return found;
}

/** Dates without a zone are in UTC, as these services write them. */
export function timeOf(...values: readonly unknown[]): number {
  for (const value of values) {
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value !== "string") continue;
    const date = value.replace(" ", "T");
    const ms = Date.parse(/(?:z|[+-]\d{2}:?\d{2})$/iu.test(date) ? date : `${date}Z`);
    if (Number.isFinite(ms)) return ms;
  }
  return 0;
}

export const scoreIn = (value: unknown): number | undefined => {
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "number" && value >= 0 && value <= 1 ? value : undefined;
};

/**
 * A score by its name: an outcome, and a rating too where the name says so, or was chosen. Empty for what says
 * nothing.
 */
export function namedScore(
  name: unknown,
  value: unknown,
  rating: string | undefined,
): readonly Pick<FeedbackInput, "score" | "outcome">[] {
  if (!["string", "number", "boolean"].includes(typeof value)) return [];
  const key = firstText(name) ?? "score";
  const score = key === rating || isRatingName(key) ? scoreIn(value) : undefined;
  return [{ ...defined({ score }), outcome: { [key]: value as string | number | boolean } }];
}
