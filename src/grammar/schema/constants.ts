/** Constants of a schema (`const`, `enum`): which are valid under its other keywords. */
import type { JsonValue } from "../../core/message.ts";
import { GrammarError } from "../grammar-error.ts";
import { includes, type Language } from "../strings/language.ts";
import type { PlainSchema } from "./normalize.ts";
import type { SchemaContext } from "./schema-context.ts";
import { numbersOf, stringsOf } from "./value-languages.ts";

/** @throws GrammarError for an object or a list next to keywords for its content */
export function validConstants(
  plain: PlainSchema,
  values: readonly JsonValue[],
  path: string,
  context: SchemaContext,
): readonly JsonValue[] {
  const types = plain.types === null ? null : new Set(plain.types);
  let strings: Language | undefined;
  let numbers: Language | undefined;
  const hasRules =
    plain.properties.size > 0 ||
    plain.required.length > 0 ||
    plain.items !== undefined ||
    plain.prefixItems.length > 0;
  return values.filter((value) => {
    context.budget.spend(1);
    const isInteger = typeof value === "number" && Number.isInteger(value);
    const name = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
    if (types !== null && !types.has(name) && !(isInteger && types.has("integer"))) return false;
    if (typeof value === "string") {
      context.budget.spend(value.length);
      return includes((strings ??= stringsOf(plain, path, context)), value);
    }
    if (typeof value === "number") {
      if (Object.keys(plain.numbers).length === 0) return true;
      numbers ??= numbersOf(plain, false, path, context);
      return includes(numbers, JSON.stringify(value));
    }
    if (typeof value !== "object" || value === null || !hasRules) return true;
    throw new GrammarError(
      path,
      "an object or a list in enum cannot be combined with other keywords",
    );
  });
}
