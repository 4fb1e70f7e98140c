/** What becomes of each keyword of JSON Schema. */
import type { JsonObject, JsonValue } from "../../core/message.ts";

export type Schema = JsonValue;

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Without effect on which values are valid. */
const annotations: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "$defs",
  "definitions",
  "title",
  "description",
  "default",
  "example",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "contentMediaType",
  "contentEncoding",
  "contentSchema",
  "discriminator",
  "strict",
]);

const enforced: ReadonlySet<string> = new Set([
  "$ref",
  "type",
  "nullable",
  "enum",
  "const",
  "anyOf",
  "oneOf",
  "allOf",
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "required",
  "minProperties",
  "maxProperties",
  "items",
  "prefixItems",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
]);

/** Values without effect of keywords that are not enforced. */
const neutral: Readonly<Record<string, JsonValue>> = { uniqueItems: false, minContains: 0 };

/** Receives what a schema asks for and is not enforced, with its place. */
export type OnUnenforced = (what: string) => void;

/** Reports keywords that say which values are valid and are not enforced. */
export function checkKeywords(schema: JsonObject, path: string, report: OnUnenforced): void {
  for (const [name, value] of Object.entries(schema)) {
    if (annotations.has(name) || enforced.has(name) || name.startsWith("x-")) continue;
    if (value === undefined || (Object.hasOwn(neutral, name) && neutral[name] === value)) continue;
    // Words of other vocabularies are annotations.
    if (!known.has(name)) continue;
    report(`${path}: the keyword "${name}"`);
  }
}

const known: ReadonlySet<string> = new Set([
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "contains",
  "minContains",
  "maxContains",
  "uniqueItems",
  "unevaluatedItems",
  "additionalItems",
  "$dynamicRef",
  "$recursiveRef",
]);
