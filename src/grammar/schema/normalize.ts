/**
 * Schemas to a list of alternatives without `$ref`, `allOf`, `anyOf` and `oneOf`: one of them is valid
 * exactly where the schema is, or, with `additionalProperties` left out next to `properties`, where no other
 * properties are.
 */
import type { JsonObject, JsonValue } from "../../core/message.ts";
import { GrammarError } from "../grammar-error.ts";
import { checkKeywords, isObject, type OnUnenforced, type Schema } from "./keywords.ts";

/** Without references and combinations; keywords that may occur several times are lists. */
export interface PlainSchema {
  readonly types: readonly string[] | null;
  /** Every one of these lists must have the value. */
  readonly values: readonly JsonValue[] | null;
  readonly patterns: readonly string[];
  readonly formats: readonly string[];
  readonly properties: ReadonlyMap<string, Schema>;
  readonly patternProperties: ReadonlyMap<string, Schema>;
  /** undefined where nothing was said. */
  readonly additional: Schema | undefined;
  readonly propertyNames: readonly Schema[];
  readonly required: readonly string[];
  readonly prefixItems: readonly Schema[];
  readonly items: Schema | undefined;
  readonly numbers: Readonly<Record<string, number>>;
}

const alternativesLimit = 512;
const depthLimit = 64;

const plainOf: PlainSchema = {
  types: null,
  values: null,
  patterns: [],
  formats: [],
  properties: new Map(),
  patternProperties: new Map(),
  additional: undefined,
  propertyNames: [],
  required: [],
  prefixItems: [],
  items: undefined,
  numbers: {},
};

/** Whether the larger or the smaller one of two bounds counts. */
const bounds: Readonly<Record<string, (a: number, b: number) => number>> = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
  multipleOf: (a, b) => (a % b === 0 ? a : b % a === 0 ? b : a * b),
};

const all = (schemas: readonly Schema[]): Schema =>
  schemas.length === 1 ? schemas[0]! : { allOf: schemas };

function intersectTypes(
  a: readonly string[] | null,
  b: readonly string[] | null,
): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  const both = (type: string, other: readonly string[]): boolean =>
    other.includes(type) || (type === "integer" && other.includes("number"));
  return [...new Set([...a.filter((type) => both(type, b)), ...b.filter((type) => both(type, a))])];
}

export const canonical = (value: JsonValue): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join()}}`;
};

function merge(a: PlainSchema, b: PlainSchema, path: string): PlainSchema {
  const properties = new Map<string, Schema>();
  const hasPatterns = a.patternProperties.size + b.patternProperties.size > 0;
  for (const name of new Set([...a.properties.keys(), ...b.properties.keys()])) {
    const parts = [a, b].flatMap((side) => {
      const own = side.properties.get(name);
      if (own !== undefined) return [own];
      if (hasPatterns)
        throw new GrammarError(path, "patternProperties cannot be combined by allOf");
      return side.additional === undefined || side.additional === true ? [] : [side.additional];
    });
    properties.set(name, parts.length === 0 ? true : all(parts));
  }
  const lists = (one: Schema | undefined, other: Schema | undefined): Schema | undefined =>
    one === undefined || other === undefined ? (one ?? other) : all([one, other]);
  const length = Math.max(a.prefixItems.length, b.prefixItems.length);
  const numbers = { ...a.numbers };
  for (const [name, value] of Object.entries(b.numbers))
    numbers[name] = Object.hasOwn(numbers, name) ? bounds[name]!(numbers[name]!, value) : value;
  return {
    types: intersectTypes(a.types, b.types),
    values:
      a.values === null || b.values === null
        ? (a.values ?? b.values)
        : a.values.filter((value) =>
            b.values!.some((other) => canonical(other) === canonical(value)),
          ),
    patterns: [...a.patterns, ...b.patterns],
    formats: [...a.formats, ...b.formats],
    properties,
    patternProperties: new Map([...a.patternProperties, ...b.patternProperties]),
    additional: lists(a.additional, b.additional),
    propertyNames: [...a.propertyNames, ...b.propertyNames],
    required: [...new Set([...a.required, ...b.required])],
    prefixItems: Array.from({ length }, (_, i) => {
      const parts = [a, b].flatMap((side) => side.prefixItems[i] ?? side.items ?? []);
      return parts.length === 0 ? true : all(parts);
    }),
    items: lists(a.items, b.items),
    numbers,
  };
}

export class Normalizer {
  readonly #root: Schema;
  readonly #report: OnUnenforced;

  constructor(root: Schema, report: OnUnenforced) {
    this.#root = root;
    this.#report = report;
  }

  /** The schema at `#/...`. */
  resolve(pointer: string, path: string): Schema {
    if (!pointer.startsWith("#"))
      throw new GrammarError(path, `$ref "${pointer}" does not point into the schema itself`);
    let at: JsonValue | undefined = this.#root;
    for (const part of decodeURIComponent(pointer.slice(1)).split("/").slice(1)) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      at = Array.isArray(at)
        ? (at[Number(key)] as JsonValue)
        : isObject(at) && Object.hasOwn(at, key)
          ? at[key]
          : undefined;
    }
    if (at !== undefined && (pointer === "#" || pointer.startsWith("#/"))) return at;
    throw new GrammarError(path, `$ref "${pointer}" points at nothing`);
  }

  /** Every alternative; none where no value is valid. */
  alternatives(schema: Schema, path: string, depth = 0): readonly PlainSchema[] {
    if (schema === true) return [plainOf];
    if (schema === false) return [];
    if (!isObject(schema)) throw new GrammarError(path, "a schema must be an object or a boolean");
    if (depth > depthLimit) throw new GrammarError(path, "$ref refers to itself without end");
    checkKeywords(schema, path, this.#report);
    const next = (part: Schema, at: string): readonly PlainSchema[] =>
      this.alternatives(part, `${path}${at}`, depth + 1);
    let found: readonly PlainSchema[] = [this.#own(schema, path)];
    const combine = (others: readonly PlainSchema[]): void => {
      found = found.flatMap((one) => others.map((other) => merge(one, other, path)));
      if (found.length > alternativesLimit)
        throw new GrammarError(path, `has more than ${alternativesLimit} alternatives`);
    };
    if (typeof schema["$ref"] === "string")
      combine(this.alternatives(this.resolve(schema["$ref"], path), schema["$ref"], depth + 1));
    for (const [i, part] of listOf(schema, "allOf", path).entries())
      combine(next(part, `/allOf/${i}`));
    for (const name of ["anyOf", "oneOf"] as const) {
      const options = listOf(schema, name, path);
      if (options.length === 0) continue;
      const each = options.map((option, i) => next(option, `/${name}/${i}`));
      if (name === "oneOf" && !arePairwiseDisjoint(each))
        this.#report(
          `${path}/oneOf: that only one alternative is valid (each needs a required property with its own const)`,
        );
      combine(each.flat());
    }
    if (schema["unevaluatedProperties"] !== undefined) {
      found = found.map((one) => ({
        ...one,
        additional: one.additional ?? (schema["unevaluatedProperties"] as Schema),
      }));
    }
    return found;
  }

  #own(schema: JsonObject, path: string): PlainSchema {
    const types = schema["type"];
    const named = types === undefined ? null : Array.isArray(types) ? types : [types];
    const object = (name: string): JsonObject => {
      const value = schema[name] ?? {};
      if (isObject(value)) return value;
      throw new GrammarError(path, `${name} must be an object`);
    };
    const numbers: Record<string, number> = {};
    for (const name of Object.keys(bounds)) {
      const value = schema[name];
      if (typeof value === "number") numbers[name] = value;
      else if (value !== undefined) throw new GrammarError(path, `${name} must be a number`);
    }
    const { items, prefixItems } = itemsOf(schema);
    const texts = (name: string): readonly string[] =>
      typeof schema[name] === "string" ? [schema[name]] : [];
    const isConst = schema["const"] !== undefined;
    const values = isConst ? [schema["const"]!] : (schema["enum"] ?? null);
    if (values !== null && !Array.isArray(values))
      throw new GrammarError(path, "enum must be a list");
    return {
      types:
        named === null
          ? null
          : ([...named, ...(schema["nullable"] === true ? ["null"] : [])] as string[]),
      values: values as readonly JsonValue[] | null,
      patterns: texts("pattern"),
      formats: texts("format"),
      properties: new Map(Object.entries(object("properties"))),
      patternProperties: new Map(Object.entries(object("patternProperties"))),
      additional: schema["additionalProperties"],
      propertyNames: schema["propertyNames"] === undefined ? [] : [schema["propertyNames"]],
      required: listOf(schema, "required", path) as readonly string[],
      prefixItems,
      items,
      numbers,
    };
  }
}

/** Lists in `items`, as before 2020-12, are `prefixItems`. */
function itemsOf(schema: JsonObject): {
  prefixItems: readonly Schema[];
  items: Schema | undefined;
} {
  const { items, prefixItems } = schema;
  if (Array.isArray(items)) return { prefixItems: items as readonly Schema[], items: undefined };
  return {
    prefixItems: Array.isArray(prefixItems) ? (prefixItems as readonly Schema[]) : [],
    items,
  };
}

function listOf(schema: JsonObject, name: string, path: string): readonly JsonValue[] {
  const list = schema[name] ?? [];
  if (Array.isArray(list)) return list as readonly JsonValue[];
  throw new GrammarError(path, `${name} must be a list`);
}

const typeOf = (value: JsonValue): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

/** Types of its values, numbers together; null where any. */
function kinds({ types, values }: PlainSchema): readonly string[] | null {
  if (values !== null) return values.map(typeOf);
  return types?.map((type) => (type === "integer" ? "number" : type)) ?? null;
}

function valuesOf(schema: Schema | undefined): readonly string[] | null {
  if (!isObject(schema)) return null;
  if (schema["const"] !== undefined) return [canonical(schema["const"])];
  return Array.isArray(schema["enum"])
    ? (schema["enum"] as readonly JsonValue[]).map(canonical)
    : null;
}

function areDisjoint(a: PlainSchema, b: PlainSchema): boolean {
  const [left, right] = [kinds(a), kinds(b)];
  if (left === null || right === null) return false;
  const shared = left.filter((kind) => right.includes(kind));
  if (shared.length === 0) return true;
  const apart = (one: readonly string[] | null, other: readonly string[] | null): boolean =>
    one !== null && other !== null && !one.some((value) => other.includes(value));
  if (apart(a.values?.map(canonical) ?? null, b.values?.map(canonical) ?? null)) return true;
  if (shared.some((kind) => kind !== "object")) return false;
  return a.required.some(
    (name) =>
      b.required.includes(name) &&
      apart(valuesOf(a.properties.get(name)), valuesOf(b.properties.get(name))),
  );
}

/** Valid under one is invalid under the others, as far as types and constants show. */
function arePairwiseDisjoint(options: readonly (readonly PlainSchema[])[]): boolean {
  return options.every((some, i) =>
    options
      .slice(i + 1)
      .every((others) => others.every((other) => some.every((one) => areDisjoint(one, other)))),
  );
}
