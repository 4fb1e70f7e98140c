/**
 * JSON Schema to rules of a machine. Properties come in the order of the schema; where `properties` are given
 * and `additionalProperties` is not, there are no others. White space: none, a space, or a line break with
 * indentation.
 */
import type { JsonValue } from "../../core/message.ts";
import { GrammarError } from "../grammar-error.ts";
import type { Machine } from "../machine.ts";
import { anyCharacter, emit } from "../strings/emit.ts";
import {
  anyText,
  both,
  includes,
  not,
  ofLength,
  oneOf,
  type Language,
} from "../strings/language.ts";
import { patternLanguage } from "../strings/regex.ts";
import { formatPatterns, textFormats } from "./formats.ts";
import { isObject, type OnUnenforced, type Schema } from "./keywords.ts";
import { canonical, Normalizer, type PlainSchema } from "./normalize.ts";
import { numberLanguage } from "./numbers.ts";

const allTypes = ["object", "array", "string", "number", "boolean", "null"] as const;
const indent = 20;
/** Elements or properties that are counted one by one. */
const maxCount = 2000;

type Build = (from: number) => number;

/** Rules that all schemas of a machine share. */
export class SharedRules {
  readonly character: number;
  readonly space: number;

  constructor(machine: Machine) {
    this.character = anyCharacter(machine);
    this.space = machine.rule((from) => {
      const end = machine.state();
      machine.jump(from, end);
      machine.jump(machine.text(from, " "), end);
      let at = machine.text(from, "\n");
      for (let i = 0; i < indent; i++) {
        machine.jump(at, end);
        const next = machine.text(at, " ");
        machine.edge(at, 9, 9, next);
        at = next;
      }
      machine.jump(at, end);
      return end;
    });
  }
}

export class SchemaCompiler {
  readonly #machine: Machine;
  readonly #shared: SharedRules;
  readonly #report: OnUnenforced;
  readonly #normalizer: Normalizer;
  readonly #rules = new Map<string, number>();

  constructor(machine: Machine, shared: SharedRules, root: Schema, report: OnUnenforced) {
    this.#machine = machine;
    this.#shared = shared;
    this.#report = report;
    this.#normalizer = new Normalizer(root, report);
  }

  /** The rule of a schema. Equal schemas have one rule, and so do recursive ones. @throws GrammarError */
  rule(schema: Schema, path: string): number {
    const key = canonical(schema);
    const known = this.#rules.get(key);
    if (known !== undefined) return known;
    const rule = this.#machine.declare();
    this.#rules.set(key, rule);
    const alternatives = this.#normalizer.alternatives(schema, path);
    this.#machine.define(rule, this.#choice(alternatives.map((plain) => this.#plain(plain, path))));
    return rule;
  }

  #choice(options: readonly Build[]): Build {
    return (from) => {
      const end = this.#machine.state();
      for (const option of options) {
        const start = this.#machine.state();
        this.#machine.jump(from, start);
        this.#machine.jump(option(start), end);
      }
      return end;
    };
  }

  #plain(plain: PlainSchema, path: string): Build {
    const { values } = plain;
    if (values !== null) {
      const fitting = values.filter((value) => this.#fits(value, plain, path));
      return this.#choice(fitting.map((value) => (from) => this.#literal(from, value)));
    }
    const types = plain.types ?? impliedTypes(plain);
    return this.#choice(
      types.map((type): Build => {
        if (type === "string") return (from) => this.#string(from, plain, path);
        if (type === "number" || type === "integer")
          return (from) => this.#number(from, plain, type === "integer", path);
        if (type === "boolean")
          return this.#choice(
            ["true", "false"].map((word) => (from) => this.#machine.text(from, word)),
          );
        if (type === "null") return (from) => this.#machine.text(from, "null");
        if (type === "array") return (from) => this.#array(from, plain, path);
        if (type === "object") return (from) => this.#object(from, plain, path);
        throw new GrammarError(path, `"${type}" is not a type`);
      }),
    );
  }

  #space(from: number): number {
    return this.#machine.call(from, this.#shared.space);
  }

  /** A constant, with the white space of all values. */
  #literal(from: number, value: JsonValue): number {
    const machine = this.#machine;
    const list = (open: string, close: string, items: readonly Build[]): number => {
      let at = this.#space(machine.text(from, open));
      for (const [i, item] of items.entries()) {
        if (i > 0) at = this.#space(machine.text(at, ","));
        at = item(at);
      }
      return machine.text(items.length === 0 ? at : this.#space(at), close);
    };
    if (Array.isArray(value))
      return list(
        "[",
        "]",
        (value as readonly JsonValue[]).map((item) => (at) => this.#literal(at, item)),
      );
    if (!isObject(value)) return machine.text(from, JSON.stringify(value));
    const fields = Object.entries(value).map(([key, field]): Build => (at) => {
      const named = machine.text(at, `${JSON.stringify(key)}:`);
      return this.#literal(this.#space(named), field);
    });
    return list("{", "}", fields);
  }

  /** Whether a constant is valid under the other keywords of its schema. */
  #fits(value: JsonValue, plain: PlainSchema, path: string): boolean {
    const { types } = plain;
    const isInteger = typeof value === "number" && Number.isInteger(value);
    const name = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
    if (types !== null && !types.includes(name) && !(isInteger && types.includes("integer")))
      return false;
    if (typeof value === "string") return includes(this.#stringLanguage(plain, path), value);
    if (typeof value === "number") {
      if (Object.keys(plain.numbers).length === 0) return true;
      return includes(this.#numberLanguage(plain, false, path), JSON.stringify(value));
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

  #limit(plain: PlainSchema, name: string, otherwise: number, path: string): number {
    const value = plain.numbers[name] ?? otherwise;
    if (value !== Infinity && value > maxCount && name.startsWith("min"))
      throw new GrammarError(path, `${name} is above ${maxCount}`);
    return value > maxCount ? Infinity : Math.max(0, Math.ceil(value));
  }

  #stringLanguage(plain: PlainSchema, path: string): Language {
    const min = this.#limit(plain, "minLength", 0, path);
    const max = plain.numbers["maxLength"] ?? Infinity;
    if (max !== Infinity && max > maxCount * 5) return this.#unlimited(plain, path);
    const formats = plain.formats.flatMap((format) => {
      if (Object.hasOwn(formatPatterns, format)) return [formatPatterns[format]!];
      if (textFormats.has(format)) this.#report(`${path}: format "${format}"`);
      return [];
    });
    const languages: Language[] = min === 0 && max === Infinity ? [] : [ofLength(min, max)];
    for (const pattern of [...plain.patterns, ...formats]) {
      try {
        languages.push(patternLanguage(pattern));
      } catch (error) {
        this.#report(`${path}: pattern ${JSON.stringify(pattern)} (${(error as Error).message})`);
      }
    }
    return languages.reduce((all, one) => (all === anyText ? one : both(all, one)), anyText);
  }

  /** Limits beyond any completion. */
  #unlimited(plain: PlainSchema, path: string): Language {
    const { maxLength: _, ...numbers } = plain.numbers;
    return this.#stringLanguage({ ...plain, numbers }, path);
  }

  #emitString(from: number, language: Language, path: string): number {
    try {
      return emit(this.#machine, from, language, { json: true, any: this.#shared.character });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new GrammarError(path, `the string ${error.message}`);
    }
  }

  #string(from: number, plain: PlainSchema, path: string): number {
    return this.#emitString(from, this.#stringLanguage(plain, path), path);
  }

  #numberLanguage(plain: PlainSchema, isInteger: boolean, path: string): Language {
    const { numbers } = plain;
    const lowest = numbers["minimum"] ?? -Infinity;
    const above = numbers["exclusiveMinimum"] ?? -Infinity;
    const highest = numbers["maximum"] ?? Infinity;
    const below = numbers["exclusiveMaximum"] ?? Infinity;
    const asked = numbers["multipleOf"] ?? 1;
    const isCounted = Number.isInteger(asked) && asked >= 1 && asked <= 1000;
    if (!isCounted)
      this.#report(`${path}: multipleOf ${asked} (whole numbers up to 1000 are enforced)`);
    const multipleOf = isCounted ? asked : 1;
    return numberLanguage({
      isInteger: isInteger || (isCounted && numbers["multipleOf"] !== undefined),
      min: Math.max(lowest, above),
      max: Math.min(highest, below),
      excludesMin: above >= lowest && above !== -Infinity,
      excludesMax: below <= highest && below !== Infinity,
      multipleOf,
    });
  }

  #number(from: number, plain: PlainSchema, isInteger: boolean, path: string): number {
    return emit(this.#machine, from, this.#numberLanguage(plain, isInteger, path));
  }

  #array(from: number, plain: PlainSchema, path: string): number {
    const machine = this.#machine;
    const { prefixItems, items = true } = plain;
    const min = this.#limit(plain, "minItems", 0, path);
    const max = this.#limit(plain, "maxItems", Infinity, path);
    const end = machine.state();
    let at = this.#space(machine.text(from, "["));
    // From here on places of the list are states; past `counted` they are all alike.
    const counted = Math.max(prefixItems.length, min, max === Infinity ? 1 : max);
    const element = (start: number, i: number, to?: number): number => {
      const own = prefixItems[i];
      const place = own === undefined ? "/items" : `/prefixItems/${i}`;
      const begun = i === 0 ? start : this.#space(machine.text(start, ","));
      return machine.call(begun, this.rule(own ?? items, path + place), to);
    };
    for (let i = 0; i < counted; i++) {
      if (i >= min) machine.jump(at, end);
      if (i >= max) return machine.text(this.#space(end), "]");
      at = element(at, i);
    }
    machine.jump(at, end);
    if (max === Infinity) element(at, counted, at);
    return machine.text(this.#space(end), "]");
  }

  #object(from: number, plain: PlainSchema, path: string): number {
    const machine = this.#machine;
    const { required, additional, patternProperties } = plain;
    const names = [...plain.properties.keys()];
    const isClosed = additional === undefined && (names.length > 0 || patternProperties.size > 0);
    const others: Schema = isClosed ? false : (additional ?? true);
    const properties = [
      ...names.map((name) => ({ name, schema: plain.properties.get(name)! })),
      ...required
        .filter((name) => !names.includes(name))
        .map((name) => ({
          name,
          schema: this.#undeclared(plain, name, isClosed ? true : others, path),
        })),
    ];
    const least = this.#limit(plain, "minProperties", 0, path);
    const min = least <= required.length ? 0 : least;
    const max = this.#limit(plain, "maxProperties", Infinity, path);
    const cap = max === Infinity ? Math.max(1, min) : max;
    const end = machine.state();
    const open = this.#space(machine.text(from, "{"));
    const states = new Map<string, number>();
    // `count` properties so far, of those before `index`.
    const place = (index: number, count: number): number => {
      const key = `${index}/${count}`;
      const known = states.get(key);
      if (known !== undefined) return known;
      const state = index + count === 0 ? open : machine.state();
      states.set(key, state);
      return state;
    };
    const entry = (
      at: number,
      count: number,
      key: Build,
      schema: Schema,
      to: number,
      where: string,
    ): void => {
      const begun = count === 0 ? at : this.#space(machine.text(at, ","));
      const value = this.#space(machine.text(key(begun), ":"));
      machine.call(value, this.rule(schema, where), to);
    };
    const more = (count: number): number => Math.min(count + 1, max === Infinity ? cap : cap + 1);
    for (const [index, { name, schema }] of properties.entries()) {
      for (let count = 0; count <= Math.min(index, cap); count++) {
        if (!states.has(`${index}/${count}`) && index > 0) continue;
        const at = place(index, count);
        if (!required.includes(name)) machine.jump(at, place(index + 1, count));
        if (max !== Infinity && count >= max) continue;
        const key: Build = (start) => machine.text(start, JSON.stringify(name));
        entry(at, count, key, schema, place(index + 1, more(count)), `${path}/properties/${name}`);
      }
    }
    const last = properties.length;
    const rest = this.#others(
      plain,
      properties.map(({ name }) => name),
      others,
      path,
    );
    if (last === 0) place(0, 0);
    for (let count = 0; count <= cap; count++) {
      const key = `${last}/${count}`;
      if (!states.has(key) && (rest.length === 0 || count === 0)) continue;
      const at = place(last, count);
      if (count >= min) machine.jump(at, end);
      if (max !== Infinity && count >= max) continue;
      for (const { language, schema, where } of rest) {
        const named: Build = (start) => this.#emitString(start, language, where);
        // A name that comes twice is one property, so these do not count towards a minimum.
        const next = min > 0 && count > 0 ? count : more(count);
        entry(at, count, named, schema, place(last, next), where);
      }
    }
    if (min > 0 && rest.length > 0 && (max !== Infinity || min > properties.length))
      this.#report(`${path}: minProperties next to properties of any name`);
    return machine.text(this.#space(end), "}");
  }

  /** The schema of a required property that `properties` does not have. */
  #undeclared(plain: PlainSchema, name: string, others: Schema, path: string): Schema {
    for (const [pattern, schema] of plain.patternProperties)
      if (includes(this.#pattern(pattern, path), name)) return schema;
    return others;
  }

  #pattern(pattern: string, path: string): Language {
    try {
      return patternLanguage(pattern);
    } catch (error) {
      throw new GrammarError(path, `pattern "${pattern}": ${(error as Error).message}`);
    }
  }

  /** Properties that are not named: by pattern, and all others. */
  #others(
    plain: PlainSchema,
    names: readonly string[],
    others: Schema,
    path: string,
  ): readonly { language: Language; schema: Schema; where: string }[] {
    const name = plain.propertyNames
      .flatMap((schema) => this.#normalizer.alternatives(schema, `${path}/propertyNames`))
      .map((schema) => {
        const own = this.#stringLanguage(schema, `${path}/propertyNames`);
        const values = schema.values?.filter((value) => typeof value === "string");
        return values === undefined ? own : both(oneOf(values), own);
      });
    if (plain.propertyNames.length > 1 || name.length > 1)
      throw new GrammarError(path, "propertyNames with several alternatives cannot be enforced");
    const unnamed = [...name, ...(names.length === 0 ? [] : [not(oneOf(names))])];
    const found: { language: Language; schema: Schema; where: string }[] = [];
    const patterns = [...plain.patternProperties].map(([pattern, schema]) => ({
      own: this.#pattern(pattern, path),
      schema,
      where: `${path}/patternProperties/${pattern}`,
    }));
    const join = (languages: readonly Language[]): Language =>
      languages.reduce((all, one) => (all === anyText ? one : both(all, one)), anyText);
    for (const [i, { own, schema, where }] of patterns.entries()) {
      if (schema === false) continue;
      // A name of two patterns would need both schemas.
      const rest = patterns.filter((_, j) => j !== i).map((other) => not(other.own));
      found.push({ language: join([own, ...rest, ...unnamed]), schema, where });
    }
    if (others === false) return found;
    const language = join([...patterns.map(({ own }) => not(own)), ...unnamed]);
    return [...found, { language, schema: others, where: `${path}/additionalProperties` }];
  }
}

/** Types that keywords speak of where no `type` is given: as people mean it, and more narrowly than JSON Schema. */
function impliedTypes(plain: PlainSchema): readonly string[] {
  const { numbers } = plain;
  const has = (...names: readonly string[]): boolean =>
    names.some((name) => Object.hasOwn(numbers, name));
  const isObjectLike =
    plain.properties.size + plain.patternProperties.size + plain.required.length > 0 ||
    plain.additional !== undefined ||
    plain.propertyNames.length > 0 ||
    has("minProperties", "maxProperties");
  if (isObjectLike) return ["object"];
  if (plain.items !== undefined || plain.prefixItems.length > 0 || has("minItems", "maxItems"))
    return ["array"];
  if (plain.patterns.length + plain.formats.length > 0 || has("minLength", "maxLength"))
    return ["string"];
  if (Object.keys(numbers).length > 0) return ["number"];
  return allTypes;
}
