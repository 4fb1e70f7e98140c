/** What an environment answered that is not a text, as JSON: values of servers and classes may not be JSON at all. */
import { environmentError } from "./environment-error.ts";

/** Nothing is an empty text. @throws AgentTrainerError for values that are nested too deeply, cyclic or not JSON */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value ?? "") ?? String(value);
  } catch (cause) {
    const isDeep = cause instanceof RangeError;
    throw environmentError(
      `The environment answered with a value ${isDeep ? "that is nested too deeply" : "that is not JSON"}: ${(cause as Error).message}`,
      { cause, hint: "Return a text, or a flat object." },
    );
  }
}
