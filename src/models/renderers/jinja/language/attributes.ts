/** `value.name`, `value[key]` and slices, as Jinja's sandbox gives them. */
import { fail } from "./errors.ts";
import { braceFormat } from "./format.ts";
import { spend } from "./limits.ts";
import { dictMethods, listMethods, numberMethods } from "./methods/collections.ts";
import { textMethods } from "./methods/text.ts";
import type { Method } from "./methods/method.ts";
import { indexOf } from "./numbers.ts";
import { Str, unitsOf } from "./str.ts";
import {
  Callable,
  Dict,
  Namespace,
  none,
  Range,
  refuseUndefined,
  Tuple,
  typeName,
  Undefined,
  type Args,
  type Value,
} from "./values.ts";
import { repr } from "./write.ts";

const mutating: Readonly<Record<string, ReadonlySet<string>>> = {
  list: new Set(["append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"]),
  dict: new Set(["clear", "pop", "popitem", "setdefault", "update"]),
};

/** Methods whose arguments have names; those of the others have none. */
const takesNames: ReadonlySet<string> = new Set(["split", "rsplit", "splitlines", "expandtabs"]);

function methodsOf(value: Value): Readonly<Record<string, Method<never>>> {
  if (value instanceof Str) return textMethods;
  if (value instanceof Dict) return dictMethods;
  if (value instanceof Tuple || Array.isArray(value) || value instanceof Range) return listMethods;
  if (typeof value === "number" || typeof value === "bigint") return numberMethods;
  return {};
}

/** What `getattr` finds; undefined for nothing. */
function ownAttribute(value: Value, name: string): Value | undefined {
  refuseUndefined(value);
  const type = typeName(value);
  if (name.startsWith("__") || mutating[type]?.has(name)) {
    const message = `access to attribute '${name}' of '${type}' object is unsafe.`;
    return new Undefined(message, "SecurityError");
  }
  if (value instanceof Callable) return value.attribute(name);
  if (value instanceof Tuple && value.names.includes(name)) {
    return value.items[value.names.indexOf(name)];
  }
  if (value instanceof Namespace) return value.fields.get(name);
  if (value instanceof Range && (name === "start" || name === "stop" || name === "step")) {
    return value[name];
  }
  if (value instanceof Str && (name === "format" || name === "format_map")) {
    return new Callable(name, (args) => formatText(value, name, args));
  }
  const methods = methodsOf(value);
  if (!Object.hasOwn(methods, name)) return undefined;
  const method = methods[name]!;
  const invoke = (args: Args): Value => {
    if (args.named.size > 0 && !takesNames.has(name)) {
      fail("TypeError", `${type}.${name}() takes no keyword arguments`);
    }
    return method(value as never, args);
  };
  return new Callable(name, invoke, {
    text: `<built-in method ${name} of ${type} object>`,
  });
}

/** What `value[key]` finds; undefined where Python raises. */
function ownElement(value: Value, key: Value): Value | undefined {
  refuseUndefined(value);
  if (value instanceof Dict) {
    try {
      return value.get(key);
    } catch {
      return undefined;
    }
  }
  if (typeof key !== "bigint" && typeof key !== "boolean") return undefined;
  const at = (length: number): number => {
    const index = indexOf(key);
    return index < 0 ? index + length : index;
  };
  if (value instanceof Str) {
    const units = unitsOf(value.text);
    const index = at(value.length);
    if (index < 0 || index >= value.length) return undefined;
    return units === null
      ? value.cut(index, index + 1)
      : value.cut(units[index]!, units[index + 1]);
  }
  if (value instanceof Range) {
    const index = at(value.length);
    return index < 0 || index >= value.length ? undefined : value.at(index);
  }
  const items =
    value instanceof Tuple
      ? value.items
      : Array.isArray(value)
        ? (value as readonly Value[])
        : null;
  return items?.[at(items.length)];
}

function missing(value: Value, name: Value): Undefined {
  const types: Readonly<Record<string, string>> = {
    NoneType: "None",
    Namespace: "jinja2.utils.Namespace object",
  };
  const of = types[typeName(value)] ?? `${typeName(value)} object`;
  const what = repr(name).text;
  return new Undefined(
    name instanceof Str ? `'${of}' has no attribute ${what}` : `${of} has no element ${what}`,
  );
}

/** `value.name`: methods first, then the keys of a dict. */
export function attribute(value: Value, name: string): Value {
  const found = ownAttribute(value, name);
  if (found !== undefined) return found;
  return (value instanceof Dict ? value.field(name) : undefined) ?? missing(value, Str.own(name));
}

/** `value[key]`: elements first, then methods. */
export function element(value: Value, key: Value): Value {
  const found = ownElement(value, key);
  if (found !== undefined) return found;
  return (key instanceof Str ? ownAttribute(value, key.text) : undefined) ?? missing(value, key);
}

/** `text.format(...)` and `text.format_map(...)` */
function formatText(text: Str, name: string, args: Args): Str {
  const fields = name === "format" ? null : args.take(name, ["mapping"], 1)[0]!;
  return braceFormat(text, (path) => {
    const [first = "", ...rest] = path.split(/(?=[.[])/);
    const given = fields === null ? args.named.get(first) : element(fields, Str.own(first));
    const start = /^\d+$/.test(first) ? args.positional[Number(first)] : given;
    if (start === undefined) {
      return fail(
        /^\d+$/.test(first) ? "IndexError" : "KeyError",
        `no value for the field '${first}'`,
      );
    }
    return rest.reduce<Value>((value, part) => {
      if (part.startsWith(".")) return attribute(value, part.slice(1));
      const key = part.slice(1, -1);
      return element(value, /^\d+$/.test(key) ? BigInt(key) : Str.own(key));
    }, start);
  });
}

/** `value[start:stop:step]` */
export function slice(value: Value, bounds: readonly (Value | undefined)[]): Value {
  refuseUndefined(value);
  const [start, stop, step] = bounds.map((bound) =>
    bound === undefined || bound === none ? undefined : sliceBound(bound),
  );
  const of = value instanceof Tuple ? value.items : value;
  const isText = of instanceof Str;
  if (!isText && !Array.isArray(of) && !(of instanceof Range)) {
    return fail("TypeError", `'${typeName(value)}' object cannot be sliced`);
  }
  const by = step ?? 1;
  if (by === 0) fail("ValueError", "slice step cannot be zero");
  const { length } = of as { readonly length: number };
  const [lowest, highest] = by > 0 ? [0, length] : [-1, length - 1];
  const bound = (given: number | undefined, fallback: number): number =>
    given === undefined
      ? fallback
      : Math.min(highest, Math.max(lowest, given < 0 ? given + length : given));
  const from = bound(start, by > 0 ? lowest : highest);
  const to = bound(stop, by > 0 ? highest : lowest);
  if (isText && by === 1) return cutText(of, from, to);
  if (of instanceof Range) {
    const at = (index: number): bigint => of.start + of.step * BigInt(index);
    return new Range(at(from), at(to), of.step * BigInt(by));
  }
  const count = Math.max(0, Math.ceil((to - from) / by));
  spend(count);
  const indices = Array.from({ length: count }, (_, i) => from + i * by);
  if (isText) {
    const characters = of.characters();
    return Str.join(indices.map((i) => characters[i]!));
  }
  const items = indices.map((i) => (of as readonly Value[])[i]!);
  return value instanceof Tuple ? new Tuple(items) : items;
}

function sliceBound(value: Value): number {
  if (typeof value === "bigint" || typeof value === "boolean") return indexOf(value);
  refuseUndefined(value);
  return fail("TypeError", "slice indices must be integers or None or have an __index__ method");
}

/** By code points. */
function cutText(text: Str, from: number, to: number): Str {
  const units = unitsOf(text.text);
  return units === null
    ? text.cut(from, Math.max(from, to))
    : text.cut(units[from]!, units[Math.max(from, to)]);
}
