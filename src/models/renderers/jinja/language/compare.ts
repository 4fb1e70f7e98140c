/** Equality, order and membership, as Python has them. */
import { fail } from "./errors.ts";
import { charactersPerStep, nested, spend } from "./limits.ts";
import { Str } from "./str.ts";
import {
  Dict,
  iterate,
  Range,
  refuseUndefined,
  Tuple,
  tryIterate,
  typeName,
  Undefined,
  type Value,
} from "./values.ts";

type PythonNumber = bigint | number;

/** The number that an int, a float or a bool is. */
export function asNumber(value: Value): PythonNumber | null {
  if (typeof value === "boolean") return BigInt(value);
  return typeof value === "bigint" || typeof value === "number" ? value : null;
}

const areEqualLists = (a: readonly Value[], b: readonly Value[]): boolean =>
  a.length === b.length && a.every((item, i) => isEqual(item, b[i]!));

export function isEqual(a: Value, b: Value): boolean {
  spend(1);
  const [left, right] = [asNumber(a), asNumber(b)];
  // Numbers of both kinds are equal by value.
  // oxlint-disable-next-line eqeqeq
  if (left !== null || right !== null) return left !== null && right !== null && left == right;
  if (a instanceof Str) {
    if (!(b instanceof Str) || a.text.length !== b.text.length) return false;
    spend(a.text.length / charactersPerStep);
    return a.text === b.text;
  }
  if (a instanceof Undefined) return b instanceof Undefined;
  if (Array.isArray(a) && Array.isArray(b)) return nested(() => areEqualLists(a, b));
  if (a instanceof Tuple && b instanceof Tuple)
    return nested(() => areEqualLists(a.items, b.items));
  if (a instanceof Range && b instanceof Range)
    return areEqualLists([...iterate(a)], [...iterate(b)]);
  if (a instanceof Dict && b instanceof Dict) {
    return (
      a.size === b.size &&
      nested(() =>
        [...a.entries()].every(([key, value]) => {
          const other = b.get(key);
          return other !== undefined && isEqual(value, other);
        }),
      )
    );
  }
  return a === b;
}

/** Negative, zero or positive; by code points. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  spend(length / charactersPerStep);
  for (let i = 0; i < length; i++) {
    if (a[i] === b[i]) continue;
    const [left, right] = [a.codePointAt(i)!, b.codePointAt(i)!];
    // Surrogates stand for code points above all others.
    const isHigh = (at: number, unit: number): boolean =>
      at > 0xffff || (unit >= 0xd800 && unit < 0xe000);
    const [leftHigh, rightHigh] = [isHigh(left, a.charCodeAt(i)), isHigh(right, b.charCodeAt(i))];
    return leftHigh === rightHigh ? left - right : Number(leftHigh) - Number(rightHigh);
  }
  return a.length - b.length;
}

/** Negative, zero or positive. NaN where neither is less. @throws TypeError for what has no order */
export function compare(a: Value, b: Value, operator = "<"): number {
  refuseUndefined(a, b);
  spend(1);
  const [left, right] = [asNumber(a), asNumber(b)];
  // oxlint-disable-next-line eqeqeq
  if (left !== null && right !== null)
    return left < right ? -1 : left > right ? 1 : left == right ? 0 : NaN;
  if (a instanceof Str && b instanceof Str) return compareTexts(a.text, b.text);
  const lists =
    a instanceof Tuple && b instanceof Tuple
      ? [a.items, b.items]
      : Array.isArray(a) && Array.isArray(b)
        ? [a as readonly Value[], b as readonly Value[]]
        : null;
  if (lists === null) {
    return fail(
      "TypeError",
      `'${operator}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`,
    );
  }
  const [first = [], second = []] = lists;
  const at = first.findIndex((item, i) => i >= second.length || !isEqual(item, second[i]!));
  if (at === -1 || at >= second.length) return first.length - second.length;
  return nested(() => compare(first[at]!, second[at]!, operator));
}

/** Whether `item in container`. */
export function contains(container: Value, item: Value): boolean {
  if (container instanceof Str) {
    if (!(item instanceof Str)) {
      refuseUndefined(item);
      fail("TypeError", `'in <string>' requires string as left operand, not ${typeName(item)}`);
    }
    spend(container.text.length / charactersPerStep);
    return container.text.includes(item.text);
  }
  if (container instanceof Dict) return container.has(item);
  if (tryIterate(container) === null) {
    fail("TypeError", `argument of type '${typeName(container)}' is not iterable`);
  }
  for (const one of iterate(container)) if (isEqual(one, item)) return true;
  return false;
}

/** Sorted by keys; equal ones stay in order. */
export function sortBy<T>(
  items: readonly T[],
  key: (item: T) => Value,
  isReversed = false,
): readonly T[] {
  const keyed = items.map((item) => ({ item, key: key(item) }));
  const sign = isReversed ? -1 : 1;
  return keyed.sort((a, b) => sign * (compare(a.key, b.key) || 0)).map(({ item }) => item);
}
