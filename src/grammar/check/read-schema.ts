/** Reads a schema before values are checked under it: what it cannot be checked for is refused by name. */
import type { JsonObject, JsonValue } from "../../core/message.ts";
import { checkDepth } from "../schema/check-depth.ts";
import { GrammarError } from "../grammar-error.ts";
import { textFormats } from "../schema/formats.ts";
import { isObject, type Schema } from "../schema/keywords.ts";
import { resolvePointer } from "../schema/resolve-pointer.ts";
import { GrammarLimitError, type WorkBudget } from "../work-budget.ts";
import { formatChecks } from "./format-checks.ts";
import type { PatternTest } from "./pattern-test.ts";
import type { SchemaCheckOptions } from "./schema-check-options.ts";

const one = [
  "additionalItems",
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const lists = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const maps = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
const texts = ["required"];
const numbers = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minContains",
  "maxContains",
];
const types = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);
const refused = ["$dynamicRef", "$recursiveRef"];

export interface ReadSchema {
  /** [source] all that `pattern` and `patternProperties` have. */
  readonly patterns: ReadonlyMap<string, PatternTest>;
  /** It has `unevaluatedItems` or `unevaluatedProperties`. */
  readonly tracks: boolean;
}

/** @throws GrammarError for what is no schema, or has keywords that are not supported; GrammarLimitError */
export function readSchema(
  root: Schema,
  { pattern: compile, anyFormat = false }: Pick<SchemaCheckOptions, "pattern" | "anyFormat">,
  budget: WorkBudget,
): ReadSchema {
  checkDepth(root, budget);
  const patterns = new Map<string, PatternTest>();
  let tracks = false;
  const queue: { readonly schema: Schema | undefined; readonly path: string }[] = [
    { schema: root, path: "#" },
  ];
  const known = new Set<Schema>();
  const note = (pattern: string, path: string): void => {
    if (patterns.has(pattern)) return;
    budget.spend(pattern.length);
    try {
      patterns.set(pattern, compile(pattern, budget));
    } catch (error) {
      if (error instanceof GrammarLimitError) throw error;
      throw new GrammarError(
        path,
        `pattern ${JSON.stringify(pattern)}: ${(error as Error).message}`,
      );
    }
  };
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { schema, path } = next;
    if (typeof schema === "boolean" || known.has(schema as Schema)) continue;
    if (!isObject(schema)) throw new GrammarError(path, "a schema must be an object or a boolean");
    known.add(schema);
    budget.spend(1 + Object.keys(schema).length);
    checkOwn(schema, path, schema === root, budget);
    if (!anyFormat) checkFormat(schema, path);
    tracks ||= "unevaluatedItems" in schema || "unevaluatedProperties" in schema;
    if (typeof schema["pattern"] === "string") note(schema["pattern"], path);
    for (const pattern of Object.keys(mapOf(schema, "patternProperties", path)))
      note(pattern, path);
    if (typeof schema["$ref"] === "string")
      queue.push({ schema: resolvePointer(root, schema["$ref"], path), path: schema["$ref"] });
    for (const name of one)
      if (Object.hasOwn(schema, name) && !Array.isArray(schema[name]))
        queue.push({ schema: schema[name], path: `${path}/${name}` });
    for (const name of lists)
      for (const [i, part] of listOf(schema, name, path).entries())
        queue.push({ schema: part, path: `${path}/${name}/${i}` });
    for (const name of maps)
      for (const [key, part] of Object.entries(mapOf(schema, name, path)))
        if (!Array.isArray(part)) queue.push({ schema: part, path: `${path}/${name}/${key}` });
  }
  return { patterns, tracks };
}

function listOf(schema: JsonObject, name: string, path: string): readonly JsonValue[] {
  if (!Object.hasOwn(schema, name)) return [];
  const list = schema[name];
  if (Array.isArray(list)) return list as readonly JsonValue[];
  if (name === "items") return [];
  throw new GrammarError(path, `${name} must be a list`);
}

function mapOf(schema: JsonObject, name: string, path: string): JsonObject {
  const map = Object.hasOwn(schema, name) ? schema[name] : {};
  if (isObject(map)) return map;
  throw new GrammarError(path, `${name} must be an object`);
}

function checkOwn(schema: JsonObject, path: string, isRoot: boolean, budget: WorkBudget): void {
  for (const name of refused)
    if (Object.hasOwn(schema, name)) throw new GrammarError(path, `${name} is not supported`);
  if (!isRoot && typeof schema["$id"] === "string")
    throw new GrammarError(path, "$id inside of a schema is not supported");
  for (const name of numbers)
    if (Object.hasOwn(schema, name) && typeof schema[name] !== "number")
      throw new GrammarError(path, `${name} must be a number`);
  for (const name of texts)
    if (listOf(schema, name, path).some((text) => typeof text !== "string"))
      throw new GrammarError(path, `${name} must be a list of names`);
  for (const needed of Object.values(mapOf(schema, "dependentRequired", path)))
    if (!Array.isArray(needed)) throw new GrammarError(path, "dependentRequired must have lists");
  listOf(schema, "enum", path);
  const { type, pattern, $ref: pointer } = schema as Record<string, unknown>;
  const named = Array.isArray(type)
    ? (type as readonly unknown[])
    : type === undefined
      ? []
      : [type];
  budget.spend(named.length);
  for (const name of named)
    if (!types.has(name as string)) throw new GrammarError(path, `"${String(name)}" is not a type`);
  if (pattern !== undefined && typeof pattern !== "string")
    throw new GrammarError(path, "pattern must be a text");
  if (pointer !== undefined && typeof pointer !== "string")
    throw new GrammarError(path, "$ref must be a text");
}

function checkFormat({ format }: JsonObject, path: string): void {
  if (typeof format === "string" && textFormats.has(format) && !Object.hasOwn(formatChecks, format))
    throw new GrammarError(path, `format "${format}" is not supported`);
}
