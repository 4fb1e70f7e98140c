/** Whether a response's text is valid under the schema that its request asked for. */
import { supportedPatternTest } from "../../grammar/check/pattern-test.ts";
import { SchemaCheck } from "../../grammar/check/schema-check.ts";
import { GrammarError } from "../../grammar/grammar-error.ts";
import { GrammarLimitError } from "../../grammar/work-budget.ts";
import type { JsonValue } from "../../core/message.ts";

/** Steps of one check, while other calls wait: 20 milliseconds at most. */
const steps = 100_000;

/** By schema; the reason where there is none. */
const checks = new WeakMap<object, SchemaCheck | string>();

/** Patterns and formats that are not supported are named with the request; they are not checked. */
function createCheck(schema: JsonValue): SchemaCheck | string {
  try {
    return new SchemaCheck(schema, { steps, pattern: supportedPatternTest, anyFormat: true });
  } catch (error) {
    if (error instanceof GrammarLimitError || error instanceof GrammarError) return error.message;
    throw error;
  }
}

function checkOf(schema: JsonValue): SchemaCheck | string {
  if (typeof schema !== "object" || schema === null) return createCheck(schema);
  const known = checks.get(schema) ?? createCheck(schema);
  checks.set(schema, known);
  return known;
}

/** Null where it is valid; white space, the spelling of strings and the order of properties do not matter. */
export function schemaProblem(schema: JsonValue, text: string): string | null {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return "the text is not JSON";
  }
  const check = checkOf(schema);
  if (typeof check === "string") return `the text could not be checked: ${check}`;
  try {
    const problem = check.problem(value);
    return problem === null ? null : `the text is not valid under the schema: ${problem}`;
  } catch (error) {
    if (error instanceof GrammarLimitError)
      return `the text could not be checked: ${error.message}`;
    throw error;
  }
}
