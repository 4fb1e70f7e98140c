/** A row of the data that cannot be used. */
import { ConfigError } from "../../../core/errors.ts";

/** Names the file and the line; `skip_bad_rows` counts it and continues. */
export class RowError extends ConfigError {
  constructor(at: string, what: string, hint?: string, cause?: unknown) {
    super({
      message: `${at}: ${what}`,
      hint: hint ?? "Correct the row, or skip rows like it with fine_tuning.skip_bad_rows=true.",
      cause,
      fields: { at },
    });
  }
}

/** Runs `read`; whatever it throws names the row, and is an error of that row alone. @throws RowError */
export function inRow<T>(at: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RowError) throw error;
    const what = error instanceof Error ? error.message : String(error);
    throw new RowError(at, what.replace(`${at}: `, ""), undefined, error);
  }
}
