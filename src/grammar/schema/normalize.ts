/**
 * Schemas to a list of alternatives without `$ref`, `allOf`, `anyOf` and `oneOf`: one of them is valid
 * exactly where the schema is, or, with `additionalProperties` left out next to `properties`, where no other
 * properties are.
 */
import type { JsonObject, JsonValue } from "../../core/message.ts";
import { GrammarError } from "../grammar-error.ts";
import { resolvePointer } from "./resolve-pointer.ts";
import { checkKeywords, isObject, type Schema } from "./keywords.ts";
import type { SchemaContext } from "./schema-context.ts";

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

function intersectTypes(
  a: readonly string[] | null,
  b: readonly string[] | null,
): readonly string[] | null {
  if (a === null || b === null || a === b) return a ?? b;
  const both = (type: string, other: ReadonlySet<string>): boolean =>
    other.has(type) || (type === "integer" && other.has("number"));
  const [left, right] = [new Set(a), new Set(b)];
  return [
    ...new Set([...a.filter((type) => both(type, right)), ...b.filter((type) => both(type, left))]),
  ];
}

const union = <T>(a: readonly T[], b: readonly T[]): readonly T[] =>
  b.length === 0 ? a : a.length === 0 ? b : [...new Set([...a, ...b])];

/** Lists of at most so many entries of `plain` are copied with it. */
const sizeOf = (plain: PlainSchema): number =>
  1 +
  plain.patterns.length +
  plain.formats.length +
  plain.properties.size +
  plain.patternProperties.size +
  plain.propertyNames.length +
  plain.required.length +
  plain.prefixItems.length +
  (plain.values?.length ?? 0) +
  (plain.types?.length ?? 0);

export class Normalizer {
  readonly #root: Schema;
  readonly #context: SchemaContext;
  /** Each part of the schema is read once, however many references lead to it; null while it is read. */
  readonly #known = new Map<JsonObject, readonly PlainSchema[] | null>();
  readonly #combined = new Map<
    string,
    { readonly schema: Schema; readonly parts: readonly Schema[] }
  >();
  readonly #partsOf = new Map<Schema, readonly Schema[]>();

  constructor(root: Schema, context: SchemaContext) {
    this.#root = root;
    this.#context = context;
  }

  /** The schema of what is valid under all of these; the same object for the same ones. */
  #all(schemas: readonly Schema[]): Schema {
    const { values, budget } = this.#context;
    const parts = new Map<number, Schema>();
    for (const schema of schemas)
      for (const part of this.#partsOf.get(schema) ?? [schema]) {
        budget.spend(1);
        parts.set(values.idOf(part), part);
      }
    if (parts.size === 1) return schemas[0]!;
    const key = [...parts.keys()].join();
    const known = this.#combined.get(key);
    if (known !== undefined) return known.schema;
    const list = [...parts.values()];
    const schema = { allOf: list };
    this.#combined.set(key, { schema, parts: list });
    this.#partsOf.set(schema, list);
    return schema;
  }

  #merge(a: PlainSchema, b: PlainSchema, path: string): PlainSchema {
    const { values, budget } = this.#context;
    if (a === plainOf || b === plainOf) return a === plainOf ? b : a;
    budget.spend(20 + sizeOf(a) + sizeOf(b));
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
      properties.set(name, parts.length === 0 ? true : this.#all(parts));
    }
    const lists = (one: Schema | undefined, other: Schema | undefined): Schema | undefined =>
      one === undefined || other === undefined ? (one ?? other) : this.#all([one, other]);
    const length = Math.max(a.prefixItems.length, b.prefixItems.length);
    const numbers = { ...a.numbers };
    for (const [name, value] of Object.entries(b.numbers))
      numbers[name] = Object.hasOwn(numbers, name) ? bounds[name]!(numbers[name]!, value) : value;
    const others = b.values === null ? null : new Set(b.values.map((value) => values.idOf(value)));
    return {
      types: intersectTypes(a.types, b.types),
      values:
        a.values === null || others === null
          ? (a.values ?? b.values)
          : a.values.filter((value) => others.has(values.idOf(value))),
      patterns: union(a.patterns, b.patterns),
      formats: union(a.formats, b.formats),
      properties,
      patternProperties: new Map([...a.patternProperties, ...b.patternProperties]),
      additional: lists(a.additional, b.additional),
      propertyNames: union(a.propertyNames, b.propertyNames),
      required: union(a.required, b.required),
      prefixItems: Array.from({ length }, (_, i) => {
        const parts = [a, b].flatMap((side) => side.prefixItems[i] ?? side.items ?? []);
        return parts.length === 0 ? true : this.#all(parts);
      }),
      items: lists(a.items, b.items),
      numbers,
    };
  }

  /** Every alternative; none where no value is valid. */
  alternatives(schema: Schema, path: string, depth = 0): readonly PlainSchema[] {
    if (schema === true) return [plainOf];
    if (schema === false) return [];
    if (!isObject(schema)) throw new GrammarError(path, "a schema must be an object or a boolean");
    const known = this.#known.get(schema);
    if (known !== undefined && known !== null) return known;
    if (known === null) throw new GrammarError(path, "$ref refers to itself without end");
    if (depth > depthLimit)
      throw new GrammarError(path, `is behind more than ${depthLimit} references and combinations`);
    this.#known.set(schema, null);
    const found = this.#read(schema, path, depth);
    this.#known.set(schema, found);
    return found;
  }

  #read(schema: JsonObject, path: string, depth: number): readonly PlainSchema[] {
    const { budget, report } = this.#context;
    budget.spend(20);
    checkKeywords(schema, path, report);
    const next = (part: Schema, at: string): readonly PlainSchema[] =>
      this.alternatives(part, `${path}${at}`, depth + 1);
    let found: readonly PlainSchema[] = [this.#own(schema, path)];
    const limit = (count: number): void => {
      if (count > alternativesLimit)
        throw new GrammarError(path, `has more than ${alternativesLimit} alternatives`);
    };
    const combine = (others: readonly PlainSchema[]): void => {
      limit(found.length * others.length);
      found = found.flatMap((one) => others.map((other) => this.#merge(one, other, path)));
    };
    if (typeof schema["$ref"] === "string") {
      const target = resolvePointer(this.#root, schema["$ref"], path);
      combine(this.alternatives(target, schema["$ref"], depth + 1));
    }
    for (const [i, part] of listOf(schema, "allOf", path).entries())
      combine(next(part, `/allOf/${i}`));
    for (const name of ["anyOf", "oneOf"] as const) {
      const options = listOf(schema, name, path);
      if (options.length === 0) continue;
      const each = options.map((option, i) => next(option, `/${name}/${i}`));
      limit(each.reduce((sum, { length }) => sum + length, 0));
      if (name === "oneOf" && !arePairwiseDisjoint(each, this.#context))
        report(
          `${path}/oneOf: that only one alternative is valid (each needs a required property with its own const)`,
        );
      combine(each.flat());
    }
    const rest = schema["unevaluatedProperties"];
    if (rest !== undefined) {
      budget.spend(found.length);
      found = found.map((one) => ({ ...one, additional: one.additional ?? rest }));
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
    this.#context.budget.spend(1 + prefixItems.length);
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

/** What tells an alternative from others. */
interface Marks {
  /** Types of its values, numbers together; null where any. */
  readonly kinds: ReadonlySet<string> | null;
  readonly values: ReadonlySet<number> | null;
  /** Values of its required properties that have a constant. */
  readonly constants: ReadonlyMap<string, ReadonlySet<number>>;
}

function marksOf(plain: PlainSchema, { values: ids, budget }: SchemaContext): Marks {
  const { types, values, required, properties } = plain;
  budget.spend(sizeOf(plain));
  const idsOf = (list: readonly JsonValue[]): ReadonlySet<number> =>
    new Set(list.map((value) => ids.idOf(value)));
  const kinds =
    values?.map(typeOf) ?? types?.map((type) => (type === "integer" ? "number" : type)) ?? null;
  const constants = new Map<string, ReadonlySet<number>>();
  for (const name of required) {
    const schema = properties.get(name);
    if (!isObject(schema)) continue;
    const own = schema["const"] !== undefined ? [schema["const"]] : schema["enum"];
    if (Array.isArray(own)) constants.set(name, idsOf(own as readonly JsonValue[]));
  }
  return {
    kinds: kinds === null ? null : new Set(kinds),
    values: values === null ? null : idsOf(values),
    constants,
  };
}

function areApart(
  one: ReadonlySet<unknown>,
  other: ReadonlySet<unknown>,
  { budget }: SchemaContext,
): boolean {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  budget.spend(1 + small.size);
  for (const value of small) if (large.has(value)) return false;
  return true;
}

function areDisjoint(a: Marks, b: Marks, context: SchemaContext): boolean {
  if (a.kinds === null || b.kinds === null) return false;
  if (areApart(a.kinds, b.kinds, context)) return true;
  if (a.values !== null && b.values !== null && areApart(a.values, b.values, context)) return true;
  for (const kind of a.kinds) if (kind !== "object" && b.kinds.has(kind)) return false;
  for (const [name, own] of a.constants) {
    const other = b.constants.get(name);
    if (other !== undefined && areApart(own, other, context)) return true;
  }
  return false;
}

/** Valid under one is invalid under the others, as far as types and constants show. */
function arePairwiseDisjoint(
  options: readonly (readonly PlainSchema[])[],
  context: SchemaContext,
): boolean {
  const marks = options.map((some) => some.map((one) => marksOf(one, context)));
  return marks.every((some, i) =>
    marks
      .slice(i + 1)
      .every((others) =>
        others.every((other) => some.every((one) => areDisjoint(one, other, context))),
      ),
  );
}
