/**
 * A value that is written without its type, read by its schema: the first of its readings that the schema takes. The
 * readings are what it says as JSON or as Python's `str` of null and booleans, then its plain text.
 */
import { isSameJson, JsonNumber, tryParseExact, type ExactJson } from "../../../util/exact-json.ts";

type Schema = ReadonlyMap<string, ExactJson>;

const isSchema = (value: ExactJson | undefined): value is Schema => value instanceof Map;
const listOf = (value: ExactJson | undefined): readonly ExactJson[] =>
  Array.isArray(value) ? (value as readonly ExactJson[]) : [];

/** Schemas looked at for one value: references may go round, and alternatives multiply. */
const mostSchemas = 1000;
/** References and alternatives inside each other. */
const deepest = 32;

interface Walk {
  readonly root: ExactJson;
  /** Only the type has to fit: not the value that an enumeration has. */
  readonly isLoose: boolean;
  left: number;
}

/** Names that tools use, apart from JSON Schema's own. */
const typeNames: ReadonlyMap<string, string> = new Map([
  ["str", "string"],
  ["text", "string"],
  ["int", "integer"],
  ["float", "number"],
  ["double", "number"],
  ["bool", "boolean"],
  ["dict", "object"],
  ["list", "array"],
  ["tuple", "array"],
  ["none", "null"],
]);

/** Keywords by the type that a schema without one has. */
const implied: readonly (readonly [string, readonly string[]])[] = [
  ["object", ["properties", "required", "additionalProperties", "patternProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]],
  ["string", ["pattern", "format", "minLength", "maxLength"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

function typeOf(value: ExactJson): string {
  if (value === null) return "null";
  if (value instanceof JsonNumber) return "number";
  if (Array.isArray(value)) return "array";
  return typeof value === "object" ? "object" : typeof value;
}

function isOfType(value: ExactJson, type: ExactJson): boolean {
  if (typeof type !== "string") return true;
  const lower = type.toLowerCase();
  const name = typeNames.get(lower) ?? lower;
  if (name === "integer") return value instanceof JsonNumber && Number.isInteger(value.value);
  const isKnown = /^(?:null|boolean|number|string|array|object)$/u.test(name);
  return !isKnown || typeOf(value) === name;
}

/** The schema that a reference names; any value where it names none. */
function resolve(root: ExactJson, reference: ExactJson): ExactJson {
  if (typeof reference !== "string" || !reference.startsWith("#")) return true;
  let at: ExactJson | undefined = root;
  for (const step of reference.split("/").slice(1)) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    at = isSchema(at) ? at.get(key) : listOf(at)[Number(key)];
  }
  return at ?? true;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function takes(schema: ExactJson | undefined, value: ExactJson, walk: Walk, depth = 0): boolean {
  if (!isSchema(schema) || depth > deepest || walk.left-- <= 0) return schema !== false;
  if (schema.get("nullable") === true && value === null) return true;
  const inner = (each: ExactJson): boolean => takes(each, value, walk, depth + 1);
  const reference = schema.get("$ref");
  if (reference !== undefined && !inner(resolve(walk.root, reference))) return false;
  if (!listOf(schema.get("allOf")).every(inner)) return false;
  const alternatives = [schema.get("anyOf"), schema.get("oneOf")].filter(Array.isArray);
  if (!alternatives.every((each) => listOf(each).some(inner))) return false;
  const constant = schema.get("const");
  const values = constant === undefined ? schema.get("enum") : [constant];
  if (Array.isArray(values)) {
    const same = (each: ExactJson): boolean =>
      walk.isLoose ? typeOf(each) === typeOf(value) : isSameJson(each, value);
    if (!listOf(values).some(same)) return false;
  }
  const type = schema.get("type");
  if (type !== undefined)
    return (Array.isArray(type) ? listOf(type) : [type]).some((each) => isOfType(value, each));
  if (reference !== undefined || alternatives.length > 0 || schema.has("allOf")) return true;
  if (Array.isArray(values)) return true;
  const types = implied.filter(([, keywords]) => keywords.some((each) => schema.has(each)));
  return types.length === 0 || types.some(([each]) => isOfType(value, each));
}

/** Python's `str` of them, which templates write. */
const words: ReadonlyMap<string, ExactJson> = new Map<string, ExactJson>([
  ["None", null],
  ["True", true],
  ["False", false],
]);

export interface TypedValue {
  readonly value: ExactJson;
  /** Whether the schema takes it. */
  readonly fits: boolean;
}

/** @param root what references are relative to */
export function readTyped(text: string, schema: ExactJson, root: ExactJson): TypedValue {
  const trimmed = text.trim();
  const json = words.has(trimmed) ? words.get(trimmed) : tryParseExact(trimmed);
  // A text in quotes is a text with quotes.
  const readings = json === undefined || typeof json === "string" ? [text] : [json, text];
  if (schema === false) return { value: text, fits: false };
  for (const isLoose of [false, true]) {
    const walk = { root, isLoose, left: mostSchemas };
    const value = readings.find((each) => takes(schema, each, walk));
    if (value !== undefined) return { value, fits: !isLoose };
  }
  return { value: readings[0]!, fits: false };
}

/** The schema of an argument; undefined where the tool has none of this name. */
export function parameterSchema(root: ExactJson, name: string): ExactJson | undefined {
  if (!isSchema(root)) return true;
  const own = declared(root, { root, name, left: mostSchemas }, 0);
  if (own !== undefined) return own;
  const others = root.get("additionalProperties");
  if (others === true || isSchema(others)) return others;
  const isClosed =
    others === false ||
    ["properties", "$ref", "allOf", "anyOf", "oneOf"].some((key) => root.has(key));
  return isClosed && !root.has("patternProperties") ? undefined : true;
}

function declared(
  schema: ExactJson | undefined,
  search: { readonly root: ExactJson; readonly name: string; left: number },
  depth: number,
): ExactJson | undefined {
  if (!isSchema(schema) || depth > deepest || search.left-- <= 0) return undefined;
  const properties = schema.get("properties");
  const reference = schema.get("$ref");
  const inner = (key: string): readonly (ExactJson | undefined)[] =>
    listOf(schema.get(key)).map((each) => declared(each, search, depth + 1));
  const found = [
    isSchema(properties) ? properties.get(search.name) : undefined,
    ...(reference === undefined
      ? []
      : [declared(resolve(search.root, reference), search, depth + 1)]),
    ...["allOf", "anyOf", "oneOf"].flatMap(inner),
  ].filter((each) => each !== undefined);
  return found.length > 1 ? new Map([["anyOf", found]]) : found[0];
}
