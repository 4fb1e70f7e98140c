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
