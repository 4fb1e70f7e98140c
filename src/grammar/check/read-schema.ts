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

export interface SchemaCheckOptions {
  /** Steps of one check. */
  readonly steps: number;
  /** Compiles a pattern; throws where it is not supported. */
  readonly pattern: (source: string, budget: WorkBudget) => PatternTest;
  /** Formats that texts cannot be checked for are left out, and not refused. @default false */
  readonly anyFormat?: boolean;
}

type Kind = "schema" | "schemas" | "map" | "items" | "names" | "list" | "number" | "text";

/** What the values of keywords are, for those that are read. */
const kinds = new Map<string, Kind>();
const named: Readonly<Record<Kind, string>> = {
  schema:
    "additionalItems additionalProperties contains else if not propertyNames then unevaluatedItems unevaluatedProperties",
  schemas: "allOf anyOf oneOf prefixItems",
  map: "properties patternProperties dependentSchemas dependencies",
  items: "items",
  names: "required",
  list: "enum",
  number:
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
  text: "pattern $ref",
};
for (const [kind, names] of Object.entries(named))
  for (const name of names.split(" ")) kinds.set(name, kind as Kind);

const types = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);
const refused = new Set(["$dynamicRef", "$recursiveRef"]);

export interface ReadSchema {
  /** [source] all that `pattern` and `patternProperties` have. */
  readonly patterns: ReadonlyMap<string, PatternTest>;
  /** It has `unevaluatedItems` or `unevaluatedProperties`. */
  readonly tracks: boolean;
}

interface Part {
  readonly schema: Schema | undefined;
  readonly path: string;
}

/** What reading one takes, without its keywords. */
const stepsOfSchema = 4;

/** @throws GrammarError for what is no schema, or has keywords that are not supported; GrammarLimitError */
export function readSchema(
  root: Schema,
  { pattern: compile, anyFormat = false }: Pick<SchemaCheckOptions, "pattern" | "anyFormat">,
  budget: WorkBudget,
): ReadSchema {
  checkDepth(root, budget);
  const patterns = new Map<string, PatternTest>();
  let tracks = false;
  const queue: Part[] = [{ schema: root, path: "#" }];
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
    // Only what it has is looked at, so that its size is what it costs.
    const fields = Object.entries(schema);
    budget.spend(stepsOfSchema + fields.length);
    for (const [name, value] of fields) {
      checkOwn(name, value, { path, isRoot: schema === root, budget });
      for (const part of partsOf(name, value, path)) {
        budget.spend(1);
        queue.push(part);
      }
    }
    if (!anyFormat) checkFormat(schema, path);
    tracks ||= "unevaluatedItems" in schema || "unevaluatedProperties" in schema;
    const { pattern, patternProperties, $ref: pointer } = schema;
    if (typeof pattern === "string") note(pattern, path);
    if (isObject(patternProperties))
      for (const source of Object.keys(patternProperties)) note(source, path);
    if (typeof pointer === "string")
      queue.push({ schema: resolvePointer(root, pointer, path), path: pointer });
  }
  return { patterns, tracks };
}

/** Schemas in the value of a keyword, with their places. */
function* partsOf(name: string, value: JsonValue, path: string): Generator<Part> {
  const kind = kinds.get(name);
  const isList = Array.isArray(value);
  if (kind === "schema" || (kind === "items" && !isList)) {
    if (!isList) yield { schema: value, path: `${path}/${name}` };
  } else if (kind === "schemas" || kind === "items") {
    for (const [i, part] of (value as readonly Schema[]).entries())
      yield { schema: part, path: `${path}/${name}/${i}` };
  } else if (kind === "map") {
    for (const [key, part] of Object.entries(value as JsonObject))
      if (!Array.isArray(part)) yield { schema: part, path: `${path}/${name}/${key}` };
  }
}

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  readonly budget: WorkBudget;
}

/** @throws GrammarError where a keyword's value is none of its kind, or it is not supported. */
function checkOwn(name: string, value: JsonValue, { path, isRoot, budget }: Place): void {
  if (refused.has(name)) throw new GrammarError(path, `${name} is not supported`);
  if (name === "$id" && !isRoot && typeof value === "string")
    throw new GrammarError(path, "$id inside of a schema is not supported");
  if (name === "type") {
    const all: readonly JsonValue[] = Array.isArray(value) ? value : [value];
    budget.spend(all.length);
    for (const one of all)
      if (!types.has(one as string))
        throw new GrammarError(path, `${JSON.stringify(one)} is not a type`);
  }
  if (name === "dependentRequired") {
    requireObject(name, value, path);
    if (!Object.values(value as JsonObject).every(Array.isArray))
      throw new GrammarError(path, "dependentRequired must have lists");
  }
  const kind = kinds.get(name);
  const isList = Array.isArray(value);
  if ((kind === "schemas" || kind === "names" || kind === "list") && !isList)
    throw new GrammarError(path, `${name} must be a list`);
  if (kind === "names" && (value as readonly JsonValue[]).some((text) => typeof text !== "string"))
    throw new GrammarError(path, `${name} must be a list of names`);
  if (kind === "number" && typeof value !== "number")
    throw new GrammarError(path, `${name} must be a number`);
  if (kind === "text" && typeof value !== "string")
    throw new GrammarError(path, `${name} must be a text`);
  if (kind === "map") requireObject(name, value, path);
}

function requireObject(name: string, value: JsonValue, path: string): void {
  if (!isObject(value)) throw new GrammarError(path, `${name} must be an object`);
}

function checkFormat({ format }: JsonObject, path: string): void {
  if (typeof format === "string" && textFormats.has(format) && !Object.hasOwn(formatChecks, format))
    throw new GrammarError(path, `format "${format}" is not supported`);
}
