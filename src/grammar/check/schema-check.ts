/**
 * Whether a JSON value is valid under a JSON Schema (2020-12, and `items`, `additionalItems` and `dependencies`
 * as before). Schemas and values are those of strangers: every step is counted, and patterns are linear.
 */
import type { JsonObject, JsonValue } from "../../core/message.ts";
import { isObject, type Schema } from "../schema/keywords.ts";
import { resolvePointer } from "../schema/resolve-pointer.ts";
import { GrammarLimitError, WorkBudget } from "../work-budget.ts";
import { canonicalText } from "./canonical-text.ts";
import { formatChecks } from "./format-checks.ts";
import { isMultiple } from "./multiples.ts";
import type { PatternTest } from "./pattern-test.ts";
import { type SchemaCheckOptions, readSchema } from "./read-schema.ts";

/** Properties and items that some keyword has looked at, for `unevaluated...`. */
interface Seen {
  readonly names: Set<string>;
  readonly items: Set<number>;
}

/** Schemas within one another, and values. */
const maxDepth = 400;

const noneSeen = (): Seen => ({ names: new Set(), items: new Set() });

function addSeen(to: Seen, from: Seen): void {
  for (const name of from.names) to.names.add(name);
  for (const item of from.items) to.items.add(item);
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const schemaAt = (schema: JsonObject, name: string): Schema | undefined =>
  Object.hasOwn(schema, name) ? schema[name] : undefined;

const numberAt = (schema: JsonObject, name: string): number | undefined =>
  schemaAt(schema, name) as number | undefined;

const listAt = (schema: JsonObject, name: string): readonly JsonValue[] => {
  const list = schemaAt(schema, name);
  return Array.isArray(list) ? (list as readonly JsonValue[]) : [];
};

const fieldsAt = (schema: JsonObject, name: string): readonly (readonly [string, JsonValue])[] => {
  const fields = schemaAt(schema, name);
  return isObject(fields) ? Object.entries(fields) : [];
};

const own = (value: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

export class SchemaCheck {
  readonly #root: Schema;
  readonly #steps: number;
  readonly #patterns: ReadonlyMap<string, PatternTest>;
  readonly #tracks: boolean;
  /** [schema] its constants, as texts. */
  readonly #constants = new Map<JsonObject, ReadonlySet<string>>();
  #budget: WorkBudget;
  #depth = 0;

  /** @throws GrammarError for what is no schema, or has keywords that are not supported; GrammarLimitError */
  constructor(schema: Schema, options: SchemaCheckOptions) {
    this.#root = schema;
    this.#steps = options.steps;
    this.#budget = new WorkBudget(this.#steps);
    const { patterns, tracks } = readSchema(schema, options, this.#budget);
    this.#patterns = patterns;
    this.#tracks = tracks;
  }

  /** The first problem, with its place in the value; null where it is valid. @throws GrammarLimitError */
  problem(value: JsonValue): string | null {
    this.#budget = new WorkBudget(this.#steps);
    this.#depth = 0;
    return this.#check(this.#root, value, "", noneSeen());
  }

  #check(schema: Schema, value: JsonValue, at: string, seen: Seen): string | null {
    this.#budget.spend(1);
    if (schema === true) return null;
    if (schema === false) return problemAt(at, "nothing is allowed here");
    if (this.#depth >= maxDepth)
      throw new GrammarLimitError(
        `checking it takes more than ${maxDepth} schemas within one another`,
      );
    this.#depth++;
    const fields = schema as JsonObject;
    this.#budget.spend(Object.keys(fields).length);
    const found =
      this.#checkAny(fields, value, at) ??
      this.#checkCombined(fields, value, at, seen) ??
      (typeof value === "string"
        ? this.#checkString(fields, value, at)
        : typeof value === "number"
          ? checkNumber(fields, value, at)
          : Array.isArray(value)
            ? this.#checkList(fields, value as readonly JsonValue[], at, seen)
            : isObject(value)
              ? this.#checkObject(fields, value, at, seen)
              : null);
    this.#depth--;
    return found;
  }

  /** The same value under another schema, which does not know what this one has looked at. */
  #within(schema: Schema, value: JsonValue, at: string, seen: Seen): string | null {
    const inner = noneSeen();
    const found = this.#check(schema, value, at, inner);
    if (found === null) addSeen(seen, inner);
    return found;
  }

  #isValid(schema: Schema, value: JsonValue, seen: Seen = noneSeen()): boolean {
    const depth = this.#depth;
    const isValid = this.#check(schema, value, "", seen) === null;
    this.#depth = depth;
    return isValid;
  }

  #checkAny(schema: JsonObject, value: JsonValue, at: string): string | null {
    const { type, nullable } = schema;
    if (type !== undefined) {
      const types = (Array.isArray(type) ? type : [type]) as readonly string[];
      this.#budget.spend(types.length);
      const name = typeOf(value);
      const fits =
        types.includes(name) ||
        (types.includes("integer") && Number.isInteger(value)) ||
        (value === null && nullable === true);
      if (!fits) return problemAt(at, `must be ${types.join(" or ")}, and is ${name}`);
    }
    if (Object.hasOwn(schema, "enum") || Object.hasOwn(schema, "const")) {
      let texts = this.#constants.get(schema);
      if (texts === undefined) {
        const all = Object.hasOwn(schema, "enum") ? listAt(schema, "enum") : [schema["const"]!];
        texts = new Set(all.map((one) => canonicalText(one, this.#budget)));
        this.#constants.set(schema, texts);
      }
      const text = canonicalText(value, this.#budget);
      // A schema may have both.
      const isConst =
        !Object.hasOwn(schema, "const") || canonicalText(schema["const"]!, this.#budget) === text;
      if (!texts.has(text) || !isConst)
        return problemAt(at, "is none of the values that are allowed");
    }
    return null;
  }

  #checkCombined(schema: JsonObject, value: JsonValue, at: string, seen: Seen): string | null {
    const { $ref: pointer } = schema;
    if (typeof pointer === "string") {
      this.#budget.spend(pointer.length);
      const found = this.#within(resolvePointer(this.#root, pointer, "#"), value, at, seen);
      if (found !== null) return found;
    }
    for (const part of listAt(schema, "allOf")) {
      const found = this.#within(part, value, at, seen);
      if (found !== null) return found;
    }
    const options = listAt(schema, "anyOf");
    if (options.length > 0) {
      let first: string | null = null;
      let isAny = false;
      for (const option of options) {
        if (isAny && !this.#tracks) break;
        const inner = noneSeen();
        const depth = this.#depth;
        const found = this.#check(option, value, at, inner);
        this.#depth = depth;
        first ??= found;
        if (found !== null) continue;
        isAny = true;
        addSeen(seen, inner);
      }
      if (!isAny)
        return options.length === 1 ? first : problemAt(at, "is valid under none of anyOf");
    }
    const choices = listAt(schema, "oneOf");
    if (choices.length > 0) {
      let count = 0;
      for (const choice of choices) {
        const inner = noneSeen();
        if (!this.#isValid(choice, value, inner)) continue;
        count++;
        addSeen(seen, inner);
        if (count > 1) return problemAt(at, "is valid under several of oneOf");
      }
      if (count === 0) return problemAt(at, "is valid under none of oneOf");
    }
    const not = schemaAt(schema, "not");
    if (not !== undefined && this.#isValid(not, value)) return problemAt(at, "is what not forbids");
    const condition = schemaAt(schema, "if");
    if (condition === undefined) return null;
    const inner = noneSeen();
    const isMet = this.#isValid(condition, value, inner);
    if (isMet) addSeen(seen, inner);
    const branch = schemaAt(schema, isMet ? "then" : "else");
    return branch === undefined ? null : this.#within(branch, value, at, seen);
  }

  #matches(pattern: string, text: string): boolean {
    this.#budget.spend(1 + text.length);
    return this.#patterns.get(pattern)!(text, this.#budget);
  }

  #checkString(schema: JsonObject, value: string, at: string): string | null {
    const { minLength, maxLength, pattern, format } = schema as Record<string, unknown>;
    if (minLength !== undefined || maxLength !== undefined) {
      this.#budget.spend(value.length);
      let length = 0;
      for (const _ of value) length++;
      if (length < ((minLength as number | undefined) ?? 0))
        return problemAt(at, `has less than ${String(minLength)} characters`);
      if (length > ((maxLength as number | undefined) ?? Infinity))
        return problemAt(at, `has more than ${String(maxLength)} characters`);
    }
    if (typeof pattern === "string" && !this.#matches(pattern, value))
      return problemAt(at, `does not match the pattern ${pattern}`);
    if (typeof format === "string" && Object.hasOwn(formatChecks, format)) {
      this.#budget.spend(value.length);
      if (!formatChecks[format]!(value)) return problemAt(at, `is no ${format}`);
    }
    return null;
  }

  #checkList(
    schema: JsonObject,
    value: readonly JsonValue[],
    at: string,
    seen: Seen,
  ): string | null {
    const count = bounds(value.length, numberAt(schema, "minItems"), numberAt(schema, "maxItems"));
    if (count !== null) return problemAt(at, `has ${count} items`);
    if (schema["uniqueItems"] === true) {
      const texts = new Set(value.map((item) => canonicalText(item, this.#budget)));
      if (texts.size < value.length) return problemAt(at, "has an item twice");
    }
    const { items } = schema;
    const [prefix, rest] = Array.isArray(items)
      ? [items as readonly Schema[], schemaAt(schema, "additionalItems")]
      : [listAt(schema, "prefixItems"), items];
    for (const [i, item] of value.entries()) {
      const part = i < prefix.length ? prefix[i] : rest;
      if (part === undefined) break;
      const found = this.#check(part, item, `${at}.${i}`, noneSeen());
      if (found !== null) return found;
      if (this.#tracks) seen.items.add(i);
    }
    const contains = schemaAt(schema, "contains");
    if (contains !== undefined) {
      const { minContains = 1, maxContains = Infinity } = schema as Record<string, number>;
      let matches = 0;
      for (const [i, item] of value.entries()) {
        if (!this.#isValid(contains, item)) continue;
        matches++;
        if (this.#tracks) seen.items.add(i);
      }
      if (matches < minContains || matches > maxContains)
        return problemAt(at, `contains ${matches} of the items that it must contain`);
    }
    const unevaluated = schemaAt(schema, "unevaluatedItems");
    if (unevaluated === undefined) return null;
    for (const [i, item] of value.entries()) {
      if (seen.items.has(i)) continue;
      const found = this.#check(unevaluated, item, `${at}.${i}`, noneSeen());
      if (found !== null) return found;
      seen.items.add(i);
    }
    return null;
  }

  #checkObject(schema: JsonObject, value: JsonObject, at: string, seen: Seen): string | null {
    const names = Object.keys(value);
    this.#budget.spend(names.length);
    const min = numberAt(schema, "minProperties");
    const count = bounds(names.length, min, numberAt(schema, "maxProperties"));
    if (count !== null) return problemAt(at, `has ${count} properties`);
    const required = listAt(schema, "required") as readonly string[];
    this.#budget.spend(required.length);
    const missing = required.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return problemAt(`${at}.${missing}`, "is required");
    for (const [name, needed] of [
      ...fieldsAt(schema, "dependentRequired"),
      ...fieldsAt(schema, "dependencies"),
    ]) {
      if (!Array.isArray(needed) || !Object.hasOwn(value, name)) continue;
      this.#budget.spend(needed.length);
      const lacking = (needed as readonly string[]).find((other) => !Object.hasOwn(value, other));
      if (lacking !== undefined) return problemAt(`${at}.${lacking}`, `is required with ${name}`);
    }
    for (const [name, part] of [
      ...fieldsAt(schema, "dependentSchemas"),
      ...fieldsAt(schema, "dependencies"),
    ]) {
      this.#budget.spend(1);
      if (Array.isArray(part) || !Object.hasOwn(value, name)) continue;
      const found = this.#within(part, value, at, seen);
      if (found !== null) return found;
    }
    return (
      this.#checkNames(schema, names, at) ??
      this.#checkFields(schema, names, value, at, seen) ??
      this.#checkUnevaluated(schema, names, value, at, seen)
    );
  }

  #checkNames(schema: JsonObject, names: readonly string[], at: string): string | null {
    const allowed = schemaAt(schema, "propertyNames");
    if (allowed === undefined) return null;
    for (const name of names) {
      const found = this.#check(allowed, name, `${at}.${name}`, noneSeen());
      if (found !== null) return found;
    }
    return null;
  }

  #checkFields(
    schema: JsonObject,
    names: readonly string[],
    value: JsonObject,
    at: string,
    seen: Seen,
  ): string | null {
    const properties = isObject(schema["properties"]) ? schema["properties"] : {};
    const patterns = fieldsAt(schema, "patternProperties");
    const others = schemaAt(schema, "additionalProperties");
    for (const name of names) {
      const named = own(properties, name);
      const parts = named === undefined ? [] : [named];
      for (const [pattern, part] of patterns) if (this.#matches(pattern, name)) parts.push(part);
      if (parts.length === 0 && others !== undefined) parts.push(others);
      for (const part of parts) {
        const found = this.#check(part, value[name]!, `${at}.${name}`, noneSeen());
        if (found !== null) return found;
      }
      if (this.#tracks && parts.length > 0) seen.names.add(name);
    }
    return null;
  }

  #checkUnevaluated(
    schema: JsonObject,
    names: readonly string[],
    value: JsonObject,
    at: string,
    seen: Seen,
  ): string | null {
    const unevaluated = schemaAt(schema, "unevaluatedProperties");
    if (unevaluated === undefined) return null;
    for (const name of names) {
      if (seen.names.has(name)) continue;
      const found = this.#check(unevaluated, value[name]!, `${at}.${name}`, noneSeen());
      if (found !== null) return found;
      seen.names.add(name);
    }
    return null;
  }
}

/** @param at empty, or the path with a leading point */
const problemAt = (at: string, what: string): string =>
  `${at === "" ? "the value" : at.slice(1)}: ${what}`;

function bounds(count: number, min = 0, max = Infinity): string | null {
  if (count < min) return `${count}, less than ${min}`;
  return count > max ? `${count}, more than ${max}` : null;
}

function checkNumber(schema: JsonObject, value: number, at: string): string | null {
  const limits: readonly (readonly [string, (limit: number) => boolean, string])[] = [
    ["minimum", (limit) => value >= limit, "less than"],
    ["maximum", (limit) => value <= limit, "more than"],
    ["exclusiveMinimum", (limit) => value > limit, "not more than"],
    ["exclusiveMaximum", (limit) => value < limit, "not less than"],
    ["multipleOf", (limit) => isMultiple(value, limit), "no multiple of"],
  ];
  for (const [name, fits, words] of limits) {
    const limit = numberAt(schema, name);
    if (limit !== undefined && !fits(limit)) return problemAt(at, `is ${words} ${limit}`);
  }
  return null;
}
