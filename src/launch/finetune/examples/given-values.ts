/**
 * Values without the nulls that mean nothing. Arrow and Parquet give every object of a column the fields of all
 * others, so that a field which was never there comes back as null, and a model would learn to send it.
 */
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";

/** Without fields that are null. */
export function present(fields: JsonFields): JsonFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Whether the objects of a list have the same fields, some of them null: Arrow's pattern. */
export function hasUnionFields(list: readonly unknown[]): boolean {
  const objects = list.filter(isJsonObject);
  const [first = "", ...others] = objects.map((each) => Object.keys(each).toSorted().join("\0"));
  const hasNull = objects.some((each) => Object.values(each).includes(null));
  return others.length > 0 && hasNull && others.every((keys) => keys === first);
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [];

/** The schema that a reference within the tool's own names. */
function referred(reference: unknown, root: unknown): unknown {
  const [start, ...path] = typeof reference === "string" ? reference.split("/") : [];
  if (start !== "#") return undefined;
  return path.reduce<unknown>((at, key) => (isJsonObject(at) ? at[key] : undefined), root);
}

/** Whether a schema lets a value be null; a reference to elsewhere may. */
function admitsNull(schema: unknown, root?: unknown, seen = new Set<unknown>()): boolean {
  if (!isJsonObject(schema)) return schema === true;
  if (schema["nullable"] === true) return true;
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { type, enum: values, const: only, anyOf, oneOf, $ref: reference } = schema;
  if (type !== undefined && type !== "null" && !listOf(type).includes("null")) return false;
  if (Array.isArray(values) && !values.includes(null)) return false;
  if (only !== undefined && only !== null) return false;
  const target = referred(reference, root);
  if (target !== undefined && !admitsNull(target, root, seen)) return false;
  return [anyOf, oneOf].every(
    (some) => !Array.isArray(some) || some.some((each) => admitsNull(each, root, seen)),
  );
}

/** Keywords whose values are data. */
const data = new Set(["default", "const", "enum", "examples"]);
/** Keywords whose values are schemas by name. */
const named = new Set(["properties", "$defs", "definitions", "patternProperties"]);

/** A JSON schema without the keywords and properties that are null; a default of null stays where it is allowed. */
export function presentSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(presentSchema);
  if (!isJsonObject(schema)) return schema;
  const { default: _default, const: _const, ...others } = schema;
  const kept = present(others);
  const result = Object.entries(schema).flatMap(([key, value]) => {
    const mayBeNull = key === "default" || key === "const";
    if (value === null && !(mayBeNull && admitsNull(kept))) return [];
    if (data.has(key)) return [[key, value] as const];
    if (!named.has(key) || !isJsonObject(value)) return [[key, presentSchema(value)] as const];
    const schemas = Object.entries(present(value)).map(([name, of]) => [name, presentSchema(of)]);
    return [[key, Object.fromEntries(schemas)] as const];
  });
  return Object.fromEntries(result);
}

/** A schema and those that it refers to or chooses from. */
function branches(schema: unknown, root: unknown, seen = new Set<JsonFields>()): Set<JsonFields> {
  if (!isJsonObject(schema) || seen.has(schema)) return seen;
  seen.add(schema);
  const { $ref: reference, anyOf, oneOf, allOf } = schema;
  for (const each of [referred(reference, root), ...[anyOf, oneOf, allOf].flatMap(listOf)])
    branches(each, root, seen);
  return seen;
}

/** Whether the null of a field was given, rather than added by Arrow. */
function isGiven(
  key: string,
  schemas: readonly JsonFields[],
  root: unknown,
  isUnion: boolean,
): boolean {
  const declared = schemas.filter(({ properties }) => isJsonObject(properties));
  const isOpen = schemas.some(
    ({ additionalProperties: more }) => more === true || isJsonObject(more),
  );
  const own = declared.filter(({ properties }) => Object.hasOwn(properties as object, key));
  if (own.length === 0) return (declared.length === 0 || isOpen) && !isUnion;
  const allowing = own.filter(({ properties }) =>
    admitsNull((properties as JsonFields)[key], root),
  );
  if (allowing.length === 0) return false;
  return !isUnion || allowing.some(({ required }) => listOf(required).includes(key));
}

/**
 * The arguments of a call that were given. A null is not one of them where the tool's schema does not have it or
 * does not allow it; where the schema leaves that open, or there is none, it is one unless the row has Arrow's
 * pattern. A field that must be there stays.
 */
export function givenArguments(
  value: unknown,
  schema: unknown,
  isUnion: boolean,
  root: unknown = schema,
): unknown {
  const schemas = [...branches(schema, root)];
  const below = (item: unknown, of: unknown): unknown => givenArguments(item, of, isUnion, root);
  if (Array.isArray(value)) {
    const items = schemas.find((each) => isJsonObject(each["items"]))?.["items"];
    return value.map((item) => below(item, items));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      if (item === null) return isGiven(key, schemas, root, isUnion) ? [[key, null]] : [];
      const of = schemas
        .map(({ properties }) => (isJsonObject(properties) ? properties[key] : undefined))
        .find(isJsonObject);
      return [[key, below(item, of)]];
    }),
  );
}
