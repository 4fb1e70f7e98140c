/** Rows as they come from where they are stored: each with its location, and some that cannot be read. */
import { AgentTrainerError, ConfigError } from "../core/errors.ts";
import { type ExactJson, isSameJson, JsonNumber, parseExact } from "../util/exact-json.ts";

/**
 * `at` is the row's location for messages: `data/train.jsonl:7`. Where a row `isColumnar`, a null in one of its
 * objects may be a field that only other rows have.
 */
export type SourceRow =
  | { readonly at: string; readonly value: unknown; readonly isColumnar?: boolean }
  | { readonly at: string; readonly problem: AgentTrainerError };

/** What `JSON.parse` might change silently: a large number, or the name `__proto__`, also with escapes. */
const suspect = /(?<![\d.])\d{16}|\d[eE][+-]?\d{3}|__proto__|\\u005/u;

/** JSON with the digits of its numbers where they matter, for `plainRow`. @throws ConfigError that names the location. */
export function parseJson(text: string, at: string): unknown {
  try {
    return suspect.test(text) ? parseExact(text) : JSON.parse(text);
  } catch (error) {
    throw new ConfigError({
      message: `${at}: not valid JSON: ${(error as Error).message}.`,
      hint: "Correct it; agent-trainer dataset inspect FILE lists all bad rows, and dataset.skip_bad_rows=true skips them.",
      cause: error,
      fields: { at },
    });
  }
}

/** Whether JSON would have the number again; of a fraction, the nearest double will do. */
function isHeld(number: JsonNumber): boolean {
  const { value, text } = number;
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/[1-9]/u.test(text.split(/e/iu, 1)[0]!);
  return (
    Math.abs(value) <= Number.MAX_SAFE_INTEGER ||
    isSameJson(number, new JsonNumber(JSON.stringify(value)))
  );
}

/**
 * A row that `parseJson` read, in JavaScript's values. A field that is a number which they do not have is its text.
 * @throws ConfigError for such a number within a field, and for the key `__proto__`.
 */
export function plainRow(row: unknown, at: string): unknown {
  return row instanceof Map ? plainValue(row as ExactJson, at, []) : row;
}

function plainValue(value: ExactJson, at: string, path: readonly string[]): unknown {
  if (value instanceof JsonNumber) {
    if (isHeld(value)) return value.value;
    if (path.length === 1) return value.text;
    throw new ConfigError({
      message: `${at}: JavaScript cannot hold the number ${value.text.slice(0, 100)} in "${path.join(".")}".`,
      hint: "Write it in quotes, or the whole field as JSON text.",
      fields: { at, field: path.join(".") },
    });
  }
  if (typeof value !== "object" || value === null) return value;
  const item = (key: string | number, one: ExactJson): unknown =>
    plainValue(one, at, [...path, String(key)]);
  if (!(value instanceof Map)) {
    return (value as readonly ExactJson[]).map((one, index) => item(index, one));
  }
  const entries = [...(value as ReadonlyMap<string, ExactJson>)].map(([key, one]) => {
    if (key !== "__proto__") return [key, item(key, one)] as const;
    throw new ConfigError({
      message: `${at}: a row must not have the key "__proto__".`,
      hint: "Rename it: copying such a row would lose or change it.",
      fields: { at },
    });
  });
  return Object.fromEntries(entries);
}

/** One row that is read by `read`. */
export function sourceRow(at: string, read: () => unknown): SourceRow {
  try {
    return { at, value: read() };
  } catch (error) {
    if (AgentTrainerError.isInstance(error)) return { at, problem: error };
    throw error;
  }
}

/** @throws ConfigError if `value` is not a list. */
export function requireArray(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new ConfigError({
    message: `${at} must contain a list of tasks; got ${value === null ? "null" : typeof value}.`,
    hint: "Use a list of rows with an instruction each, or one JSON object per line in a .jsonl file.",
    fields: { at },
  });
}
