/** Whether a value fits a schema: zod's, or JSON Schema. */
import type { z } from "zod";
import { ConfigError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/message.ts";
import { patternTest, type PatternTest } from "../../grammar/check/pattern-test.ts";
import { SchemaCheck as JsonSchemaCheck } from "../../grammar/check/schema-check.ts";
import { GrammarLimitError, type WorkBudget } from "../../grammar/work-budget.ts";
import { linearPattern } from "../linear-pattern.ts";

/** Whether a value fits; null, or the first problem. */
export type SchemaCheck = (value: unknown) => string | null;

/** Of one check: about a second. */
const steps = 5_000_000;

/** The check of a zod schema. */
export function zodCheck(schema: z.ZodType): SchemaCheck {
  return (value) => {
    const result = schema.safeParse(value);
    const issue = result.error?.issues[0];
    if (result.success || issue === undefined) return null;
    return `${issue.path.length === 0 ? "the value" : issue.path.join(".")}: ${issue.message}`;
  };
}

/** As structured output reads patterns; those that it does not have, as RE2 does. */
function pattern(source: string, budget: WorkBudget): PatternTest {
  try {
    return patternTest(source, budget);
  } catch (error) {
    if (error instanceof GrammarLimitError || !(error instanceof RangeError)) throw error;
  }
  const compiled = linearPattern(source);
  return (text, spent) => {
    spent.spend(text.length * Math.ceil(source.length / 8));
    return compiled.find(text) !== null;
  };
}

/**
 * The check of a JSON Schema.
 * @throws ConfigError for what is no schema, and for keywords, formats and patterns that are not supported.
 */
export function jsonSchemaCheck(schema: Readonly<Record<string, unknown>>): SchemaCheck {
  let check: JsonSchemaCheck;
  try {
    // Without fields that are undefined.
    const plain = JSON.parse(JSON.stringify(schema)) as JsonValue;
    check = new JsonSchemaCheck(plain, { steps, pattern });
  } catch (error) {
    const reason = (error as Error).message;
    throw new ConfigError({
      message: `The JSON Schema cannot be checked: ${reason}`,
      hint: "Leave the keyword out, or pass a zod schema.",
      cause: error,
      fields: { reason },
    });
  }
  return (value) => {
    try {
      return check.problem(value as JsonValue);
    } catch (error) {
      if (error instanceof GrammarLimitError) return `the value: ${error.message}`;
      throw error;
    }
  };
}
