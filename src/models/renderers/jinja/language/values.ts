/** Python's values: int is bigint, float is number, list is an array; the others are classes. */
import { fail } from "./errors.ts";
import { checkSize, spend } from "./limits.ts";
import { Str } from "./str.ts";

export type Value =
  | None
  | boolean
  | bigint
  | number
  | Str
  | readonly Value[]
  | Tuple
  | Dict
  | View
  | Range
  | Iter
  | Undefined
  | Namespace
  | Callable;

/** Not null, which `??` would take for a value that is missing. */
class None {
  readonly type = "NoneType";
}

export const none: None = new None();

export class Tuple {
  readonly items: readonly Value[];
  /** Of a named tuple. */
  readonly names: readonly string[];

  constructor(items: readonly Value[], names: readonly string[] = []) {
    this.items = items;
    this.names = names;
  }
}

/** What a missing name, attribute or element gives. */
export class Undefined {
  readonly message: string;
  /** What its use raises. */
  readonly kind: "UndefinedError" | "SecurityError";

  constructor(message: string, kind: Undefined["kind"] = "UndefinedError") {
    this.message = message;
    this.kind = kind;
  }
}

/** A key by which JavaScript compares as Python does: 1, 1.0 and True are one. @throws for what has no hash */
export function keyOf(value: Value): unknown {
  if (value instanceof Str) return value.text;
  if (typeof value === "boolean") return BigInt(value);
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === "bigint") return value;
  if (value instanceof Undefined) return Undefined;
  if (value instanceof Tuple) {
    const parts = value.items.map((item) => {
      const key = keyOf(item);
      return `${typeof key} ${String(key).length} ${String(key)}`;
    });
    return `\0tuple ${parts.join()}`;
  }
  if (Array.isArray(value) || value instanceof Dict) {
    return fail("TypeError", `unhashable type: '${typeName(value)}'`);
  }
  return value;
}

export class Dict {
  readonly #entries = new Map<unknown, readonly [Value, Value]>();

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    for (const [key, value] of entries) {
      const known = this.#entries.get(keyOf(key));
      this.#entries.set(keyOf(key), [known === undefined ? key : known[0], value]);
    }
  }

  static named(fields: Readonly<Record<string, Value>>): Dict {
    return new Dict(Object.entries(fields).map(([name, value]) => [Str.own(name), value]));
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Value): boolean {
    return this.#entries.has(keyOf(key));
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(keyOf(key))?.[1];
  }

  /** The value of a text key. */
  field(name: string): Value | undefined {
    return this.#entries.get(name)?.[1];
  }

  entries(): IterableIterator<readonly [Value, Value]> {
    return this.#entries.values();
  }
}

/** `keys()`, `values()` or `items()` of a dict. */
export class View {
  readonly kind: "keys" | "values" | "items";
  readonly items: readonly Value[];

  constructor(kind: View["kind"], dict: Dict) {
    this.kind = kind;
    this.items = Array.from(dict.entries(), ([key, value]) =>
      kind === "keys" ? key : kind === "values" ? value : new Tuple([key, value]),
    );
  }
}

export class Range {
  readonly start: bigint;
  readonly stop: bigint;
  readonly step: bigint;

  constructor(start: bigint, stop: bigint, step: bigint) {
    if (step === 0n) fail("ValueError", "range() arg 3 must not be zero");
    [this.start, this.stop, this.step] = [start, stop, step];
  }

  get length(): number {
    const { start, stop, step } = this;
    const span = step > 0n ? stop - start + step - 1n : stop - start + step + 1n;
    return Math.max(0, Number(span / step));
  }

  at(index: number): bigint {
    return this.start + this.step * BigInt(index);
  }
}

/** A generator: read once, always true, without a length. */
export class Iter implements Iterable<Value> {
  readonly name: string;
  readonly #items: Iterator<Value>;

  constructor(name: string, items: Iterable<Value>) {
    this.name = name;
    this.#items = items[Symbol.iterator]();
  }

  [Symbol.iterator](): Iterator<Value> {
    // Without `return`, so that a loop that stops early leaves the rest.
    return { next: () => this.#items.next() };
  }
}

/** What `namespace()` gives: the only value that a template may change. */
export class Namespace {
  readonly fields: Map<string, Value>;

  constructor(fields: Iterable<readonly [string, Value]>) {
    this.fields = new Map(fields);
  }
}

/** The arguments of a call. */
export class Args {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;

  constructor(positional: readonly Value[], named: ReadonlyMap<string, Value> = new Map()) {
    this.positional = positional;
    this.named = named;
  }

  /** The values of parameters, of which the first `required` must be given. */
  take(of: string, parameters: readonly string[], required = 0): readonly (Value | undefined)[] {
    if (this.positional.length > parameters.length) {
      fail(
        "TypeError",
        `${of}() takes at most ${parameters.length} arguments (${this.positional.length} given)`,
      );
    }
    for (const [name] of this.named) {
      const at = parameters.indexOf(name);
      if (at === -1) fail("TypeError", `${of}() got an unexpected keyword argument '${name}'`);
      if (at < this.positional.length) {
        fail("TypeError", `${of}() got multiple values for argument '${name}'`);
      }
    }
    return parameters.map((name, i) => {
      const value = i < this.positional.length ? this.positional[i] : this.named.get(name);
      if (value === undefined && i < required) {
        fail("TypeError", `${of}() missing required argument: '${name}'`);
      }
      return value;
    });
  }
}

/** A function, a method, a macro, or an object of Jinja's that can be called or has attributes. */
export class Callable {
  readonly name: string;
  readonly call: (args: Args) => Value;
  /** As it is printed. */
  readonly text: string;
  readonly attribute: (name: string) => Value | undefined;

  constructor(
    name: string,
    call: (args: Args) => Value,
    more: { readonly text?: string; readonly attribute?: (name: string) => Value | undefined } = {},
  ) {
    this.name = name;
    this.call = call;
    this.text = more.text ?? `<function ${name}>`;
    this.attribute = more.attribute ?? (() => undefined);
  }
}

export function typeName(value: Value): string {
  if (value === none) return "NoneType";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "float";
  if (value instanceof Str) return "str";
  if (Array.isArray(value)) return "list";
  if (value instanceof View) return `dict_${value.kind}`;
  if (value instanceof Iter) return "generator";
  if (value instanceof Callable) return "function";
  return (value as object).constructor.name
    .toLowerCase()
    .replace("undefined", "Undefined")
    .replace("namespace", "Namespace");
}

/** @throws what any use of an undefined value does */
export function refuseUndefined(...values: readonly Value[]): void {
  for (const value of values) {
    if (value instanceof Undefined) fail(value.kind, value.message);
  }
}

export function isTrue(value: Value): boolean {
  if (value === none || value instanceof Undefined) return false;
  if (typeof value === "boolean") return value;
  if (typeof value === "bigint") return value !== 0n;
  if (typeof value === "number") return value !== 0;
  if (value instanceof Str) return value.text !== "";
  return (sizeOf(value) ?? 1) > 0;
}

/** What `len()` gives; undefined for what has none. */
export function sizeOf(value: Value): number | undefined {
  if (value instanceof Undefined) return 0;
  if (value instanceof Str || value instanceof Range || Array.isArray(value)) {
    return (value as { readonly length: number }).length;
  }
  if (value instanceof Tuple || value instanceof View) return value.items.length;
  return value instanceof Dict ? value.size : undefined;
}

/** Its elements in order; null for what cannot be iterated. */
export function tryIterate(value: Value): Iterable<Value> | null {
  if (value instanceof Undefined) return [];
  if (Array.isArray(value)) return value as readonly Value[];
  if (value instanceof Tuple || value instanceof View) return value.items;
  if (value instanceof Dict) return Array.from(value.entries(), ([key]) => key);
  if (value instanceof Str) return value.characters();
  if (value instanceof Iter) return value;
  if (value instanceof Range) {
    checkSize(value.length);
    return Array.from({ length: value.length }, (_, i) => value.at(i));
  }
  return null;
}

export function iterate(value: Value): Iterable<Value> {
  const items =
    tryIterate(value) ?? fail("TypeError", `'${typeName(value)}' object is not iterable`);
  const size = sizeOf(value);
  if (size !== undefined) spend(size);
  return items;
}

/** Its elements as a list. */
export function listOf(value: Value): readonly Value[] {
  const items = iterate(value);
  if (Array.isArray(items)) return items as readonly Value[];
  const list: Value[] = [];
  for (const item of items) {
    spend(1);
    list.push(item);
    checkSize(list.length);
  }
  return list;
}
