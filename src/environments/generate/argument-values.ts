/**
 * Arguments for a tool by its JSON schema, from a seed: what the schema names, what the server's own tools have
 * said under the same name, and else small numbers and words.
 */
import { shuffled } from "../../util/random.ts";
import { valueOf } from "./proposal.ts";

type Schema = Readonly<Record<string, unknown>>;

const maxKept = 200;
const maxDepth = 4;
const words = "amber birch cedar delta ember fjord grove harbor iris juniper lantern meadow".split(
  " ",
);

const isMap = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Values that tools have answered with, by the name of their field. */
export class KnownValues {
  readonly #byName = new Map<string, Set<string | number>>();

  /** @param text a result of a tool; only JSON has names */
  learn(text: string): void {
    let budget = 2000;
    const visit = (value: unknown, name: string): void => {
      if (budget-- <= 0) return;
      if (Array.isArray(value)) for (const one of value) visit(one, name);
      else if (isMap(value)) for (const [key, own] of Object.entries(value)) visit(own, key);
      else if (name !== "" && (typeof value === "string" || typeof value === "number"))
        this.#add(plainName(name), value);
    };
    const value = valueOf(text);
    if (typeof value === "object") visit(value, "");
  }

  #add(name: string, value: string | number): void {
    const own = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, own);
    if (own.size < maxKept && String(value).length <= 200) own.add(value);
  }

  /** Under this name, or a name that ends with it or that it ends with: `id` for `productId`. */
  of(name: string): readonly (string | number)[] {
    const wanted = plainName(name);
    const exact = this.#byName.get(wanted);
    if (exact !== undefined) return [...exact];
    return [...this.#byName].flatMap(([known, values]) =>
      known.length >= 2 && (wanted.endsWith(known) || known.endsWith(wanted)) ? [...values] : [],
    );
  }
}

/** undefined where the schema asks for something that is not made here. */
export class ArgumentValues {
  readonly #random: () => number;
  readonly #known: KnownValues;

  constructor(random: () => number, known: KnownValues) {
    this.#random = random;
    this.#known = known;
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)];
  }

  /** The arguments of a call: all that is required, and some of the rest. */
  of(parameters: Schema): Readonly<Record<string, unknown>> | null {
    const value = this.#object(parameters, 0);
    return value === undefined ? null : value;
  }

  #object(schema: Schema, depth: number): Readonly<Record<string, unknown>> | undefined {
    const properties = isMap(schema["properties"]) ? schema["properties"] : {};
    const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
    const made: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(properties)) {
      if (!required.has(name) && (depth > 0 || this.#random() < 0.5)) continue;
      const value = isMap(inner) ? this.#value(inner, name, depth + 1) : undefined;
      if (value !== undefined) made[name] = value;
      else if (required.has(name)) return undefined;
    }
    return [...required].every((name) => Object.hasOwn(made, String(name))) ? made : undefined;
  }

  #value(schema: Schema, name: string, depth: number): unknown {
    if (depth > maxDepth) return undefined;
    if (schema["const"] !== undefined) return schema["const"];
    for (const key of ["enum", "examples"]) {
      const list = schema[key];
      if (Array.isArray(list) && list.length > 0) return this.#pick(list);
    }
    const either = schema["anyOf"] ?? schema["oneOf"];
    if (Array.isArray(either)) return this.#first(either, name, depth);
    const { type } = schema;
    const kind: unknown = Array.isArray(type) ? type.find((one) => one !== "null") : type;
    const known = this.#known.of(name);
    if (kind === "string") return this.#string(schema, known);
    if (kind === "number" || kind === "integer") return this.#number(schema, known);
    if (kind === "boolean") return this.#random() < 0.5;
    if (kind === "object") return this.#object(schema, depth);
    if (kind === "array") return this.#array(schema, name, depth);
    return undefined;
  }

  #first(schemas: readonly unknown[], name: string, depth: number): unknown {
    for (const one of shuffled(schemas.filter(isMap), this.#random)) {
      const value = this.#value(one, name, depth + 1);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #array(schema: Schema, name: string, depth: number): unknown {
    const items = isMap(schema["items"]) ? schema["items"] : { type: "string" };
    const least = Number(schema["minItems"] ?? 1);
    const count = Math.min(10, Math.max(least, 1 + Math.floor(this.#random() * 3)));
    const made = Array.from({ length: count }, () => this.#value(items, name, depth + 1));
    return made.includes(undefined) || least > made.length ? undefined : made;
  }

  #number(schema: Schema, known: readonly (string | number)[]): number | undefined {
    const isWhole = schema["type"] !== "number";
    const edge = (name: string, by: number): number | undefined =>
      typeof schema[name] === "number" ? schema[name] + by : undefined;
    const low = edge("minimum", 0) ?? edge("exclusiveMinimum", 1) ?? 1;
    const high = edge("maximum", 0) ?? edge("exclusiveMaximum", -1) ?? low + 99;
    const fits = (value: unknown): value is number =>
      typeof value === "number" &&
      (!isWhole || Number.isInteger(value)) &&
      value >= (edge("minimum", 0) ?? -Infinity) &&
      value <= (edge("maximum", 0) ?? Infinity);
    const named = known.filter(fits);
    if (named.length > 0) return this.#pick(named);
    if (!(low <= high)) return undefined;
    const step = typeof schema["multipleOf"] === "number" ? schema["multipleOf"] : 1;
    const from = Math.ceil(low / step);
    const value = (from + Math.floor(this.#random() * (Math.floor(high / step) - from + 1))) * step;
    return value > high ? undefined : value;
  }

  #string(schema: Schema, known: readonly (string | number)[]): string | undefined {
    const named = known.filter((value) => typeof value === "string");
    if (named.length > 0) return this.#pick(named);
    // A text of a pattern is not text that a person would ask for.
    if (schema["pattern"] !== undefined) return undefined;
    const day = 1 + Math.floor(this.#random() * 28);
    const word = this.#pick(words) as string;
    const date = `2026-0${1 + Math.floor(this.#random() * 9)}-${String(day).padStart(2, "0")}`;
    const formats: Readonly<Record<string, string>> = {
      date,
      "date-time": `${date}T12:00:00Z`,
      email: `${word}@example.com`,
      uri: `https://example.com/${word}`,
    };
    const { format, minLength, maxLength } = schema;
    const text = typeof format === "string" ? formats[format] : `${word} ${this.#pick(words)}`;
    if (text === undefined || text.length < Number(minLength ?? 0)) return undefined;
    return text.length > Number(maxLength ?? Infinity) ? text.slice(0, Number(maxLength)) : text;
  }
}
