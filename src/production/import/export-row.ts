/** A row of an export of a tracing service, and what is read of it. */
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import type { FeedbackInput } from "../store/feedback.ts";
import type { Span } from "../store/span.ts";

interface ReadRow {
  readonly spans: readonly Span[];
  readonly feedback: readonly FeedbackInput[];
}

/** @throws Error with the reason why the row cannot be read. */
export type RowReader = (row: JsonFields, at: string) => ReadRow;

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
