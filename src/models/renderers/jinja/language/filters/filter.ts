/** The form of a filter, and how filters reach into values. */
import { element } from "../attributes.ts";
import { fail } from "../errors.ts";
import { Str } from "../str.ts";
import { isTrue, none, Undefined, type Args, type Value } from "../values.ts";
import { str } from "../write.ts";

export type Filter = (value: Value, args: Args) => Value;
export type Filters = Readonly<Record<string, Filter>>;

/** What an attribute such as `function.name` or `items.0` says of a value. */
export function attributeGetter(
  attribute: Value | undefined,
  fallback?: Value,
): (value: Value) => Value {
  if (attribute === undefined || attribute === none) return (value) => value;
  const parts =
    attribute instanceof Str
      ? attribute.text.split(".").map((part) => (/^\d+$/.test(part) ? BigInt(part) : Str.own(part)))
      : [attribute];
  return (value) =>
    parts.reduce<Value>((inner, part) => {
      const found = element(inner, part);
      return found instanceof Undefined && fallback !== undefined && fallback !== none
        ? fallback
        : found;
    }, value);
}

/** Texts in lower case, unless case matters. */
export function caseFolder(isSensitive: Value | undefined): (value: Value) => Value {
  if (isSensitive !== undefined && isTrue(isSensitive)) return (value) => value;
  return (value) => (value instanceof Str ? value.mapped(value.text.toLowerCase()) : value);
}

/** A filter that takes a text, as which it reads any value. */
export function onText(of: (text: Str, args: Args) => Value): Filter {
  return (value, args) => of(str(value), args);
}

export const bad = (message: string): never => fail("TypeError", message);
