/** Constants of a schema (`const`, `enum`): which are valid under its other keywords. */
import type { JsonValue } from "../../core/message.ts";
import { GrammarError } from "../grammar-error.ts";
import { includes } from "../strings/language.ts";
import { isObject, type OnUnenforced } from "./keywords.ts";
import type { PlainSchema } from "./normalize.ts";
import { numbersOf, stringsOf } from "./value-languages.ts";

/** @throws GrammarError for an object or a list next to keywords for its content */
export function isValidConstant(
  value: JsonValue,
  plain: PlainSchema,
  path: string,
  report: OnUnenforced,
): boolean {
  const { types } = plain;
  const isInteger = typeof value === "number" && Number.isInteger(value);
  const name = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  if (types !== null && !types.includes(name) && !(isInteger && types.includes("integer")))
    return false;
  if (typeof value === "string") return includes(stringsOf(plain, path, report), value);
  if (typeof value === "number") {
    if (Object.keys(plain.numbers).length === 0) return true;
    return includes(numbersOf(plain, false, path, report), JSON.stringify(value));
  }
  if (!isObject(value) && !Array.isArray(value)) return true;
  const hasRules =
    plain.properties.size > 0 ||
    plain.required.length > 0 ||
    plain.items !== undefined ||
    plain.prefixItems.length > 0;
  if (hasRules)
    throw new GrammarError(
      path,
      "an object or a list in enum cannot be combined with other keywords",
    );
  return true;
}
