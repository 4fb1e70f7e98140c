/** Python's int and float: conversion, rounding and arithmetic, with an int of any size that is printed. */
import { asNumber } from "./compare.ts";
import { fail } from "./errors.ts";
import { Str } from "./str.ts";
import { refuseUndefined, typeName, type Value } from "./values.ts";

/** Python reads and writes no longer ones. */
const mostDigits = 4300;
const mostBits = 14_284;
const largest = 1n << BigInt(mostBits);

export function checkInt(value: bigint): bigint {
  if (value < largest && value > -largest) return value;
  return fail("ValueError", `Exceeds the limit (${mostDigits} digits) for integers`);
}

/** The int that decimal digits say. */
export function readInt(digits: string): bigint {
  if (digits.length > mostDigits) {
    fail("ValueError", `Exceeds the limit (${mostDigits} digits) for integers`);
  }
  return BigInt(digits);
}

/** An int from an int, a bool, or a value that is to be one, as an index or a count. */
export function indexOf(value: Value): number {
  if (typeof value === "bigint")
    return Number(
      BigInt.asIntN(64, value) === value ? value : value < 0n ? -(2n ** 53n) : 2n ** 53n,
    );
  if (typeof value === "boolean") return Number(value);
  refuseUndefined(value);
  return fail("TypeError", `'${typeName(value)}' object cannot be interpreted as an integer`);
}

const floatText =
  /^[+-]?(?:inf(?:inity)?|nan|(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?)$/i;

/** `float(text)`; null where Python raises. */
export function parseFloatText(text: string): number | null {
  if (text.length > 10_000 || !floatText.test(text)) return null;
  const plain = text.replaceAll("_", "").toLowerCase();
  if (plain.includes("nan")) return NaN;
  if (plain.includes("inf")) return plain.startsWith("-") ? -Infinity : Infinity;
  return Number(plain);
}

/** `int(text, base)`; null where Python raises. */
export function parseIntText(text: string, base = 10): bigint | null {
  const found = /^([+-]?)(0[bBoOxX])?_?([\da-z]+(?:_[\da-z]+)*)$/i.exec(text);
  if (found === null) return null;
  const [, sign, prefix = "", body = ""] = found;
  const bases: Readonly<Record<string, number>> = { "0b": 2, "0o": 8, "0x": 16 };
  const own = bases[prefix.toLowerCase()];
  const isPrefixed = own !== undefined && (base === own || base === 0);
  const used = base === 0 ? (own ?? 10) : base;
  const digits = `${isPrefixed ? "" : prefix}${body}`.replaceAll("_", "").toLowerCase();
  let value = 0n;
  if (used === 10) {
    if (!/^\d+$/.test(digits)) return null;
    value = readInt(digits);
  } else {
    if (digits.length > mostDigits) return null;
    for (const digit of digits) {
      const one = parseInt(digit, 36);
      if (!(one < used)) return null;
      value = value * BigInt(used) + BigInt(one);
    }
  }
  return sign === "-" ? -value : value;
}

/** Towards zero. @throws for what no int is */
export function truncate(value: number): bigint {
  if (Number.isNaN(value)) fail("ValueError", "cannot convert float NaN to integer");
  if (!Number.isFinite(value)) fail("OverflowError", "cannot convert float infinity to integer");
  return BigInt(Math.trunc(value));
}

/** Digits with `places` after the point, of the exact value; a tie goes to the even digit. */
export function fixed(value: number, places: number): string {
  if (places > 100) fail("ValueError", "precision too big");
  const text = Math.abs(value).toFixed(places);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (Math.abs(value) >= 1e21) {
    const whole = BigInt(Math.abs(value));
    return `${sign}${whole}${places > 0 ? `.${"0".repeat(places)}` : ""}`;
  }
  // A tie has no digit beyond the next.
  // oxlint-disable-next-line number-arg-out-of-range
  const exact = Math.abs(value).toFixed(100);
  const cut = exact.indexOf(".") + 1 + places;
  const isTie = places < 100 && /^50*$/.test(exact.slice(cut));
  const kept = exact.slice(0, places === 0 ? cut - 1 : cut);
  const isEven = "02468".includes(kept.at(-1)!);
  return `${sign}${isTie && isEven ? kept : text}`;
}

/** `round(value, places)`. */
export function roundNumber(value: Value, places: bigint): Value {
  const number = asNumber(value);
  refuseUndefined(value);
  if (number === null) fail("TypeError", `type ${typeName(value)} doesn't define __round__ method`);
  if (typeof number === "bigint") {
    if (places >= 0n) return number;
    const unit = checkInt(10n ** (places < -mostDigits ? BigInt(mostDigits) : -places));
    const rest = ((number % unit) + unit) % unit;
    const down = number - rest;
    const isUp = rest * 2n > unit || (rest * 2n === unit && (down / unit) % 2n !== 0n);
    return isUp ? down + unit : down;
  }
  if (!Number.isFinite(number) || places > 100n) return number;
  if (places >= 0n) return Number(fixed(number, Number(places)));
  const unit = 10 ** Number(-places);
  return Number(fixed(number / unit, 0)) * unit;
}

/** An argument of a filter or method that is a str. */
export function textOf(value: Value | undefined, of: string): Str {
  if (value instanceof Str) return value;
  if (value === undefined) return fail("TypeError", `${of}() needs a str`);
  refuseUndefined(value);
  return fail("TypeError", `${of}() argument must be str, not ${typeName(value)}`);
}
