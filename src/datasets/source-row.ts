/** Rows as they come from where they are stored: each with its location, and some that cannot be read. */
import { AgentTrainerError, ConfigError } from "../core/errors.ts";

/**
 * `at` is the row's location for messages: `data/train.jsonl:7`. Where a row `isColumnar`, a null in one of its
 * objects may be a field that only other rows have.
 */
export type SourceRow =
  | { readonly at: string; readonly value: unknown; readonly isColumnar?: boolean }
  | { readonly at: string; readonly problem: AgentTrainerError };

/** @throws ConfigError for the key `__proto__`. */
function checked(key: string, value: unknown, at: string): unknown {
  if (key !== "__proto__") return value;
  throw new ConfigError({
    message: `${at}: a row must not have the key "__proto__".`,
    hint: "Rename it: copying such a row would lose or change it.",
    fields: { at },
  });
}

/** @throws ConfigError that names the location. */
export function parseJson(text: string, at: string): unknown {
  try {
    // A reviver costs more than reading; the name may be written with escapes.
    const isSuspect = text.includes("__proto__") || text.includes("\\u005");
    return isSuspect
      ? JSON.parse(text, (key, value: unknown) => checked(key, value, at))
      : JSON.parse(text);
  } catch (error) {
    if (AgentTrainerError.isInstance(error)) throw error;
    throw new ConfigError({
      message: `${at}: not valid JSON: ${(error as Error).message}.`,
      hint: "Correct it; agent-trainer dataset inspect FILE lists all bad rows, and dataset.skip_bad_rows=true skips them.",
      cause: error,
      fields: { at },
    });
  }
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
